import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTrace } from '../../../src/heph/index.js';
import type { Trace, TraceStats } from '../../../src/heph/index.js';
import { resultOfFixture, runFixture } from '../../fixtures/run-fixture.js';
import { Collector } from './collector.js';
import { countersByStream, expectComplete } from '../packets-of-file.js';
import { temporaryDirectory } from '../temporary-file.js';

const RING = 65536;
const directory = temporaryDirectory();
let sockets = 0;

const listen = (kind: string): Promise<Collector> =>
  Collector.listen(kind === 'unix' ? join(directory, `${++sockets}.sock`) : undefined);

function emit(trace: Trace, count: number, bytes = 20): void {
  const stream = trace.stream(0);
  const span = stream.span('event', { text: 'string' });
  const text = 'x'.repeat(bytes);
  for (let i = 0; i < count; i++) span.finish(stream.startTrace(), text);
}

describe.each(['tcp', 'unix'])('over %s', (kind) => {
  it('the epoch comes first, then every event; close ends the connection', async () => {
    const collector = await listen(kind);
    const trace = openTrace(collector.target, { ringBytes: RING });
    for (let i = 0; i < 20; i++) {
      emit(trace, 500);
      await trace.flush();
    }
    await trace.close();
    await collector.until(() => collector.connections[0]?.ended === true);
    expect(collector.connections).toHaveLength(1);
    expect(collector.connections[0]!.packets[0]).toMatchObject({ kind: 'metadata', name: 'epoch' });
    expectComplete(
      collector.events.map(({ counter }) => counter),
      10_000,
    );
    expect(trace.stats()).toMatchObject({
      recorded: 10_000,
      written: { events: 10_000 },
      dropped: { events: 0 },
      connections: 1,
      errors: 0,
    });
    await collector.leave();
  });

  it('a collector that is absent at first gets what was kept for it', async () => {
    const collector = await listen(kind);
    await collector.leave();
    const trace = openTrace(collector.target, { ringBytes: RING });
    emit(trace, 100);
    await expect(
      openTrace(collector.target, { ringBytes: RING, flushTimeoutMs: 0 }).close(),
    ).resolves.toBeUndefined();
    await collector.comeBack();
    await trace.flush();
    await collector.until(() => collector.events.length === 100);
    await trace.close();
    expect(collector.connections.at(-1)!.packets[0]).toMatchObject({ kind: 'metadata' });
    expectComplete(
      collector.events.map(({ counter }) => counter),
      100,
    );
    expect(trace.stats()).toMatchObject({ recorded: 100, written: { events: 100 } });
    expect(trace.stats().errors).toBeGreaterThan(0);
    await collector.leave();
  });

  it('a collector that goes and comes back misses nothing that was not sent', async () => {
    const collector = await listen(kind);
    const trace = openTrace(collector.target, { ringBytes: RING });
    emit(trace, 300);
    await trace.flush();
    await collector.until(() => collector.events.length === 300);
    await collector.leave();
    emit(trace, 300);
    await collector.comeBack();
    await trace.flush();
    await collector.until(() => collector.events.length >= 600);
    emit(trace, 300);
    await trace.close();
    await collector.until(() => collector.connections.at(-1)?.ended === true);
    expect(collector.connections.length).toBeGreaterThan(1);
    for (const { packets } of collector.connections) {
      expect(packets[0]).toMatchObject({ kind: 'metadata', name: 'epoch' });
    }
    const seen = new Set(collector.events.map(({ counter }) => counter));
    expectComplete(
      [...seen].sort((a, b) => a - b),
      900,
    );
    expect(trace.stats()).toMatchObject({ recorded: 900, dropped: { events: 0 } });
    await collector.leave();
  });

  it('a connection that is cut in the middle: every event is received, or gone with the cut', async () => {
    const collector = await listen(kind);
    let cuts = 0;
    collector.onConnection = ({ socket }) => {
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (bytes > 100_000 && cuts < 3) {
          cuts++;
          socket.destroy();
        }
      });
    };
    const trace = openTrace(collector.target, { ringBytes: 2 ** 20 });
    const stream = trace.stream(0);
    const count = 20_000;
    for (let i = 0; i < count; i++) {
      stream.finishTrace(stream.startTrace(), 'event', { text: 'x'.repeat(20) });
      if (i % 1000 === 999) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await trace.close();
    await collector.until(() => collector.connections.at(-1)?.ended === true);
    expect(cuts).toBe(3);
    expect(collector.connections.length).toBeGreaterThan(3);
    const stats = trace.stats();
    expect(stats.recorded).toBe(count);
    const seen = new Set<number>();
    for (const { packets, events } of collector.connections) {
      expect(packets[0]).toMatchObject({ kind: 'metadata', name: 'epoch' });
      events.forEach(({ counter }, i) => {
        if (i > 0 && counter !== events[i - 1]!.counter + 1 && stats.dropped.ringFull === 0) {
          throw new Error(`counter ${counter} after ${events[i - 1]!.counter}`);
        }
        seen.add(counter);
      });
    }
    const missing = count - seen.size - stats.dropped.events;
    // A unix socket reports what its peer has read; TCP only what the other machine has taken in.
    expect(missing).toBeLessThanOrEqual(stats.network?.doubtful?.events ?? 0);
    expect(seen.size + stats.dropped.events).toBeGreaterThan(count / 4);
    await collector.leave();
  });

  it('a collector that never reads does not hold up a service that drops', async () => {
    const collector = await listen(kind);
    collector.onConnection = ({ socket }) => {
      socket.pause();
    };
    const trace = openTrace(collector.target, { ringBytes: RING, flushTimeoutMs: 100 });
    const begin = performance.now();
    // More than any socket buffers, ring and kernel together.
    for (let i = 0; i < 40; i++) {
      emit(trace, 1000, 500);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(performance.now() - begin).toBeLessThan(5000);
    await expect(trace.flush()).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
    const closing = performance.now();
    await trace.close();
    expect(performance.now() - closing).toBeLessThan(1000);
    const { recorded, written, dropped, pending } = trace.stats();
    expect(recorded).toBe(40_000);
    expect(dropped.ringFull).toBeGreaterThan(0);
    expect(dropped.unsent + dropped.unacknowledged).toBeGreaterThan(0);
    expect(written.events + dropped.events + pending.events).toBe(40_000);
    await collector.leave();
  });

  it('and holds up one that blocks for no longer than blockLimitMs', async () => {
    const collector = await listen(kind);
    collector.onConnection = ({ socket }) => {
      socket.pause();
    };
    const trace = openTrace(collector.target, {
      ringBytes: RING,
      onFull: 'block',
      blockLimitMs: 100,
      flushTimeoutMs: 0,
    });
    const stream = trace.stream(0);
    emit(trace, 1);
    await trace.flush().catch(() => undefined);
    await collector.until(() => collector.connections.length === 1);
    let longest = 0;
    let events = 1;
    for (; trace.stats().dropped.ringFull === 0; events++) {
      const begin = performance.now();
      stream.finishTrace(stream.startTrace(), 'event', { text: 'x'.repeat(500) });
      longest = Math.max(longest, performance.now() - begin);
      if (events > 100_000) throw new Error('nothing was ever dropped');
    }
    expect(longest).toBeGreaterThan(90);
    expect(longest).toBeLessThan(600);
    await trace.close();
    expect(trace.stats().recorded).toBe(events);
    await collector.leave();
  });

  it('an event larger than the ring is refused, counted, and a gap', async () => {
    const collector = await listen(kind);
    const trace = openTrace(collector.target, { ringBytes: RING });
    const stream = trace.stream(0);
    const span = stream.span('span', { list: 'string[]' });
    emit(trace, 1);
    // This could be three times as long, by the number of its characters, and then would not fit.
    stream.finishTrace(stream.startTrace(), 'fits', { text: 'x'.repeat(RING / 2 - 100) });
    for (const call of [
      () => {
        stream.finishTrace(stream.startTrace(), 'x', { text: 'x'.repeat(RING / 2) });
      },
      () => {
        span.finish(stream.startTrace(), ['ä'.repeat(10_000), 'ä'.repeat(10_000)]);
      },
    ]) {
      expect(call).toThrow(
        expect.objectContaining({
          name: 'TracewrightError',
          code: 'ERR_ARGUMENT_RANGE',
          field: 'event',
          limit: `at most ${RING / 2} bytes, which is what half the ring holds`,
        }),
      );
    }
    emit(trace, 1);
    await trace.close();
    await collector.until(() => collector.connections[0]?.ended === true);
    expect(collector.events.map(({ counter }) => counter)).toEqual([0, 1, 4]);
    expect(trace.stats()).toMatchObject({
      recorded: 5,
      written: { events: 3 },
      dropped: { events: 2, tooLarge: 2 },
    });
    await collector.leave();
  });

  it('close returns in time from a collector that is not there, and counts', async () => {
    const collector = await listen(kind);
    await collector.leave();
    const trace = openTrace(collector.target, { flushTimeoutMs: 200 });
    emit(trace, 123);
    const begin = performance.now();
    await trace.close();
    expect(performance.now() - begin).toBeLessThan(1200);
    expect(trace.stats()).toMatchObject({
      recorded: 123,
      written: { events: 0 },
      pending: { events: 0 },
      dropped: { events: 123, unsent: 123 },
    });
    expect(trace.stats().lastError).toBeTypeOf('string');
  });

  it('threads of a process share one connection, and no packet is cut by another', async () => {
    const collector = await listen(kind);
    const count = 10_000;
    const stats = await resultOfFixture<TraceStats>('heph/workers.mjs', {
      input: {
        target: collector.target,
        options: { ringBytes: 2 ** 20 },
        count,
        pace: 1000,
      },
    });
    await collector.until(() => collector.connections.every(({ ended }) => ended));
    expect(collector.connections).toHaveLength(1);
    const counters = countersByStream(collector.events);
    expect(counters.size).toBe(4);
    for (const each of counters.values()) expectComplete(each, count);
    expect(stats).toMatchObject({
      recorded: 4 * count,
      written: { events: 4 * count },
      dropped: { events: 0 },
    });
    await collector.leave();
  });
});

it('process.exit waits once for all absent collectors, not for one after the other', async () => {
  const targets = Array.from({ length: 6 }, (_, i) => ({
    unix: join(directory, `absent-${i}.sock`),
  }));
  const begin = performance.now();
  const { code } = await runFixture('heph/exit.mjs', { input: { targets, count: 10 } });
  expect(code).toBe(0);
  expect(performance.now() - begin).toBeLessThan(4000);
});
