import { describe, expect, it } from 'vitest';
import { runLibrary, treeOf } from './traced-library.js';

describe('socket.io', () => {
  it.each(['newest', 'oldest', 'earlier', 'ancient', 'first'] as const)(
    'its %s version has a span of each event that is listened to',
    async (age) => {
      const { spans } = await runLibrary('socket-io', age, 'socket.io');
      const events = spans.filter(({ kind }) => kind === 'consumer');
      expect(events.map(({ name }) => name)).toEqual(Array(4).fill('process order'));
      // The connection is that of a WebSocket, and then the first request of some.
      const connections = events.map(({ links }) =>
        spans.find(({ spanId }) => spanId === links[0]?.spanId),
      );
      expect(connections.map((span) => span?.attributes['network.protocol.name'])).toEqual([
        'websocket',
        'websocket',
        undefined,
        undefined,
      ]);
      for (const span of connections)
        expect(span).toMatchObject({ kind: 'server', name: 'GET /socket.io/' });
      for (const event of events) {
        expect(event.parentSpanId).toBeUndefined();
        expect(treeOf(spans, event)).toEqual(['GET', '  GET']);
        expect(event.attributes).toEqual({
          'messaging.system': 'socket.io',
          'messaging.operation.name': 'process',
          'messaging.operation.type': 'process',
          'messaging.destination.name': '/shop',
        });
      }
    },
  );
});
