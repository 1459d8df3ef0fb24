import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../src/heph/index.js';
import type { NetworkStats, Trace } from '../../../src/heph/index.js';
import { decodePacket } from '../../../src/heph/read/reader.js';
import { Collector } from './collector.js';
import { temporaryDirectory } from '../temporary-file.js';

const ignoreFault = (): void => undefined;

function emit(trace: Trace, count: number, bytes = 100): void {
  const stream = trace.stream(0);
  const span = stream.span('event', { text: 'string' });
  for (let i = 0; i < count; i++) span.finish(stream.startTrace(), 'x'.repeat(bytes));
}

async function until(enough: () => boolean): Promise<void> {
  while (!enough()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function networkOf(trace: Trace): NetworkStats {
  const { network } = trace.stats();
  if (network === undefined) throw new Error('no stats of a network');
  return network;
}

/** Whatever happens, each event is counted once. */
function expectWhole(trace: Trace, recorded: number): void {
  const { written, pending, dropped, recorded: counted } = trace.stats();
  expect(counted).toBe(recorded);
  expect(written.events + pending.events + dropped.events).toBe(recorded);
  const { ringFull, tooLarge, unsent, unacknowledged, refused } = dropped;
  expect(ringFull + tooLarge + unsent + unacknowledged + refused).toBe(dropped.events);
}

describe('UDP', () => {
  it.each(['127.0.0.1', '::1'])(
    'every datagram to a closed port of %s is refused',
    async (host) => {
      const socket = createSocket(host === '::1' ? 'udp6' : 'udp4');
      socket.bind(0, host);
      await once(socket, 'listening');
      const { port } = socket.address();
      socket.close();
      await once(socket, 'close');
      const faults: boolean[] = [];
      const trace = openTrace(
        { udp: { host, port } },
        { onFault: ({ over }) => faults.push(over), datagramBytes: 200 },
      );
      for (let i = 0; i < 25; i++) {
        emit(trace, 4);
        await trace.flush();
      }
      await until(() => trace.stats().dropped.refused === 100 && faults.length > 0);
      // The packet with the epoch is refused as well.
      expect(networkOf(trace)).toMatchObject({
        sent: { events: 100 },
        refused: { events: 100, datagrams: 101 },
      });
      expect(networkOf(trace)).not.toHaveProperty('acknowledged');
      expect(trace.stats()).toMatchObject({ written: { events: 0, datagrams: 101 } });
      expect(trace.stats().lastError).toContain('Connection refused');
      // No news that it works again while it refuses everything.
      expect(faults).toEqual([false]);
      await trace.close();
      expectWhole(trace, 100);
    },
  );

  it('what came before the receiver went away stays written', async () => {
    const socket = createSocket('udp4');
    let received = 0;
    socket.on('message', (message) => {
      for (let at = 0; at < message.length;) {
        const packet = decodePacket(message, at);
        if (packet.kind === 'event') received++;
        at += packet.size;
      }
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    const trace = openTrace({ udp: { host: '127.0.0.1', port } }, { onFault: ignoreFault });
    emit(trace, 50);
    await until(() => received === 50);
    expect(networkOf(trace).refused).toEqual({ events: 0, datagrams: 0 });
    socket.close();
    await once(socket, 'close');
    emit(trace, 500);
    await trace.flush();
    await until(() => trace.stats().dropped.refused === 500);
    await trace.close();
    expect(trace.stats()).toMatchObject({
      written: { events: 50 },
      network: { sent: { events: 550 } },
    });
    expectWhole(trace, 550);
  });
});

const directory = temporaryDirectory();
let sockets = 0;

describe.each(['tcp', 'unix'])('%s', (kind) => {
  const listen = (): Promise<Collector> =>
    Collector.listen(kind === 'unix' ? join(directory, `${++sockets}.sock`) : undefined);

  it('a server that accepts and never reads: sent is more than acknowledged', async () => {
    const collector = await listen();
    collector.onConnection = ({ socket }) => socket.pause();
    const trace = openTrace(collector.target, {
      ringBytes: 2 ** 20,
      flushTimeoutMs: 0,
      onFault: ignoreFault,
    });
    let recorded = 0;
    // Until this machine's socket is full too, and keeps what it has.
    let before: NetworkStats | undefined;
    await until(() => {
      emit(trace, 100, 1000);
      recorded += 100;
      const now = networkOf(trace);
      const still = JSON.stringify(now) === JSON.stringify(before);
      before = now;
      return still && trace.stats().dropped.ringFull > 2000;
    });
    const { sent, acknowledged } = networkOf(trace);
    expect(sent.events).toBeGreaterThan(acknowledged!.events);
    expect(sent.bytes).toBeGreaterThan(acknowledged!.bytes);
    expect(trace.stats().written.events).toBe(acknowledged!.events);
    await trace.close();
    const { dropped } = trace.stats();
    expect(dropped.unacknowledged).toBe(
      networkOf(trace).sent.events - networkOf(trace).acknowledged!.events,
    );
    expect(dropped.unacknowledged).toBeGreaterThan(0);
    expectWhole(trace, recorded);
    await collector.leave();
  });

  it('a server that dies with unread bytes: what it may have missed is counted', async () => {
    const collector = await listen();
    let read = 0;
    collector.onConnection = ({ socket, packets }) => {
      if (collector.connections.length > 1) return;
      socket.on('data', () => {
        read = packets.length - 1;
        if (read > 100) socket.pause();
      });
    };
    const trace = openTrace(collector.target, { ringBytes: 2 ** 20, onFault: ignoreFault });
    emit(trace, 200, 100);
    await until(() => read > 100);
    const { socket } = collector.connections[0]!;
    emit(trace, 1800, 200);
    // Its machine has more than its program has read.
    if (kind === 'tcp') await until(() => networkOf(trace).acknowledged!.bytes > 100_000);
    socket.destroy();
    await until(() => collector.connections.length === 2);
    await trace.flush();
    await trace.close();
    await collector.until(() => collector.connections[1]!.ended);
    const seen = new Set(collector.events.map(({ counter }) => counter));
    const missing = 2000 - seen.size;
    const { doubtful, sent } = networkOf(trace);
    if (kind === 'tcp') {
      expect(missing).toBeGreaterThan(0);
      expect(doubtful!.connections).toBe(1);
      expect(missing).toBeLessThanOrEqual(doubtful!.events);
    } else {
      expect(missing).toBe(0);
      expect(doubtful).toBeUndefined();
      // Those that it had not read were sent again.
      expect(sent.events).toBeGreaterThan(2000);
    }
    expectWhole(trace, 2000);
    await collector.leave();
  });

  it('a server that reads everything and ends: nothing is in doubt', async () => {
    const collector = await listen();
    const trace = openTrace(collector.target, { onFault: ignoreFault });
    emit(trace, 500);
    await trace.flush();
    await collector.until(() => collector.events.length === 500);
    await collector.leave();
    await until(() => trace.stats().errors > 0);
    await trace.close();
    expect(networkOf(trace)).toMatchObject({
      sent: { events: 500 },
      acknowledged: { events: 500 },
      ...(kind === 'tcp' && { doubtful: { connections: 0, events: 0 } }),
    });
    expectWhole(trace, 500);
  });
});
