import { describe, expect, it } from 'vitest';
import { lineOf, runLibrary, treeOf } from './traced-library.js';

describe('ws', () => {
  it.each(['newest', 'oldest', 'earlier'] as const)(
    'its %s version has a span of each message, with a link to its connection',
    async (age) => {
      const { spans, stdout } = await runLibrary('ws', age, 'ws');
      expect(stdout).toContain('unhandled 1\n');
      const connection = spans.find(
        ({ attributes }) => attributes['network.protocol.name'] === 'websocket',
      )!;
      const linked = (to: string) => spans.filter(({ links }) => links[0]?.spanId === to);
      const messages = linked(connection.spanId);
      const name = 'process message';
      expect(messages.map(lineOf)).toEqual([name, name, `${name}: E_WANTED`]);
      for (const message of messages) {
        expect(message.parentSpanId).toBeUndefined();
        expect(message.kind).toBe('consumer');
        // What the listener asks for after its first wait is below it, and within its time.
        expect(treeOf(spans, message)).toEqual(['GET', '  GET']);
        const [call] = spans.filter(({ parentSpanId }) => parentSpanId === message.spanId);
        expect(call!.end).toBeLessThanOrEqual(message.end);
      }
      expect(messages[0]!.attributes).toEqual({
        'messaging.system': 'websocket',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
      });
      // Those of the client are linked to what it was opened in.
      const opened = spans.find((span) => span.name === 'connecting')!;
      expect(linked(opened.spanId).map(lineOf)).toEqual([name, name, name]);
    },
  );
});
