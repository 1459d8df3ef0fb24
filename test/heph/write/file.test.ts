import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TraceFormatError } from '../../../src/core/errors.js';
import { openTrace } from '../../../src/heph/index.js';
import type { TraceStats } from '../../../src/heph/index.js';
import { fixturePath, resultOfFixture } from '../../fixtures/run-fixture.js';
import { countersByStream, eventsOf, expectComplete, findingsOf } from '../packets-of-file.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { temporaryDirectory } from '../temporary-file.js';

const RING = 65536;
const directory = temporaryDirectory();
let files = 0;
const fresh = (): string => join(directory, `${++files}.heph`);

async function writeOne(path: string, description: string, options = {}): Promise<void> {
  const trace = openTrace(path, options);
  const stream = trace.stream();
  stream.finishTrace(stream.startTrace(), description);
  await trace.close();
}

function ringsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith('.ring'));
}

describe('a file that is there already', () => {
  it('is an error, and is not touched', () => {
    const path = fresh();
    writeFileSync(path, 'something of yours');
    expect(() => openTrace(path)).toThrow(
      expect.objectContaining({
        name: 'TracewrightError',
        code: 'ERR_TRACE_EXISTS',
        field: 'target',
        value: path,
      }),
    );
    expect(readFileSync(path, 'utf8')).toBe('something of yours');
    expect(ringsIn(directory)).toEqual([]);
  });

  it('also when this process has just closed it', async () => {
    const path = fresh();
    await writeOne(path, 'first');
    expect(() => openTrace(path)).toThrow(expect.objectContaining({ code: 'ERR_TRACE_EXISTS' }));
    expect(eventsOf(path)).toHaveLength(1);
  });

  it('is replaced where the caller says so', async () => {
    const path = fresh();
    writeFileSync(path, 'x'.repeat(10_000));
    await writeOne(path, 'second', { exists: 'replace' });
    await writeOne(path, 'third', { exists: 'replace' });
    expect(eventsOf(path).map(({ description }) => description)).toEqual(['third']);
    expect(findingsOf(path)).toEqual([]);
  });
});

it('one target opened twice on a thread is one trace, until both are closed', async () => {
  const path = fresh();
  const first = openTrace(path);
  const second = openTrace({ file: path });
  const a = first.stream();
  const b = second.stream();
  expect([a.id, b.id]).toEqual([1, 2]);
  a.finishTrace(a.startTrace(), 'a');
  await first.close();
  b.finishTrace(b.startTrace(), 'b');
  expect(second.stats().recorded).toBe(2);
  await second.close();
  expect(findingsOf(path)).toEqual([]);
  expect(eventsOf(path)).toHaveLength(2);
});

it('default stream numbers pass over those that were asked for', async () => {
  const trace = openTrace(fresh());
  const first = trace.stream(1);
  expect(trace.stream(1)).toBe(first);
  expect([trace.stream(3).id, trace.stream().id, trace.stream().id]).toEqual([3, 2, 4]);
  expect(trace.stream(0xffff_fffe).id).toBe(0xffff_fffe);
  await trace.close();
});

it('events larger than the ring are written past it, in order', async () => {
  const path = fresh();
  const trace = openTrace(path, { ringBytes: RING });
  const stream = trace.stream();
  const span = stream.span('span', { list: 'string[]' });
  const expected: number[] = [];
  for (const count of [0, 1, 8, 9, 10, 100]) {
    const list = Array<string>(count).fill('x'.repeat(3_500));
    stream.finishTrace(stream.startTrace(), 'plain', { n: 1, list });
    span.finish(stream.startTrace(), list);
    stream.finishTrace(stream.startTrace(), 'small');
    expected.push(count, count);
  }
  await trace.close();
  expect(findingsOf(path)).toEqual([]);
  const lists = eventsOf(path)
    .filter(({ description }) => description !== 'small')
    .map(({ attributes }) => (attributes.at(-1)!.value as string[]).length);
  expect(lists).toEqual(expected);
});

it('flush brings everything to the file; close does the rest; the ring goes', async () => {
  const path = fresh();
  const trace = openTrace(path, { ringBytes: RING });
  const stream = trace.stream();
  for (let i = 0; i < 5000; i++) stream.finishTrace(stream.startTrace(), 'x');
  await trace.flush();
  expect(eventsOf(path)).toHaveLength(5000);
  expect(trace.stats()).toMatchObject({ pending: { events: 0, bytes: 0 }, dropped: { events: 0 } });
  expect(ringsIn(directory)).toHaveLength(1);
  stream.finishTrace(stream.startTrace(), 'x');
  await Promise.all([trace.close(), trace.close()]);
  expect(eventsOf(path)).toHaveLength(5001);
  expect(ringsIn(directory)).toEqual([]);
});

it('the counts are exact at every moment, whatever moves meanwhile', async () => {
  const path = fresh();
  const trace = openTrace(path, { ringBytes: RING });
  const stream = trace.stream();
  const span = stream.span('x', { n: 'u64' });
  for (let i = 1; i <= 20_000; i++) {
    span.finish(stream.startTrace(), i);
    if (i % 20 !== 0) continue;
    const { recorded, written, pending, dropped } = trace.stats();
    if (recorded !== i || written.events + pending.events + dropped.events !== i) {
      throw new Error(`after ${i} events: ${JSON.stringify(trace.stats())}`);
    }
  }
  await trace.close();
  const { written } = trace.stats();
  expect(written.events).toBe(20_000);
  expect(readFileSync(path).length).toBe(written.bytes);
  expectComplete(countersByStream(eventsOf(path)).get(stream.id)!, 20_000);
});

it('more traces than a thread has fast slots', async () => {
  const traces = Array.from({ length: 24 }, () => {
    const path = fresh();
    return { path, trace: openTrace(path, { ringBytes: RING }) };
  });
  for (let round = 0; round < 50; round++) {
    for (const { trace } of traces) {
      const stream = trace.stream(0);
      stream.finishTrace(stream.startTrace(), 'x', { round });
    }
  }
  await Promise.all(traces.map(({ trace }) => trace.close()));
  for (const { path } of traces) {
    expect(findingsOf(path)).toEqual([]);
    expect(eventsOf(path)).toHaveLength(50);
  }
});

it('the ring lies where ringDir says', async () => {
  const ringDir = join(directory, 'rings');
  mkdirSync(ringDir);
  const trace = openTrace(fresh(), { ringDir });
  expect(ringsIn(ringDir)).toHaveLength(1);
  expect(ringsIn(directory)).toEqual([]);
  await trace.close();
  expect(ringsIn(ringDir)).toEqual([]);
});

it('onFull: drop leaves gaps that the counters show, and counts them', async () => {
  const path = fresh();
  const trace = openTrace(path, { ringBytes: RING, onFull: 'drop' });
  const stream = trace.stream();
  const span = stream.span('x', { text: 'string' });
  const count = 30_000;
  for (let i = 0; i < count; i++) {
    if (i % 2 === 0) span.finish(stream.startTrace(), 'compiled');
    else stream.finishTrace(stream.startTrace(), 'x', { text: 'plain' });
  }
  await trace.close();
  const { recorded, written, dropped } = trace.stats();
  expect(recorded).toBe(count);
  const counters = eventsOf(path).map(({ counter }) => counter);
  expect(counters.length).toBe(written.events);
  const last = counters.at(-1)!;
  const gaps = last + 1 - counters.length;
  const tail = count - (last + 1);
  expect(dropped).toMatchObject({ events: gaps + tail, ringFull: gaps + tail });
  expect(counters.every((counter, i) => i === 0 || counter > counters[i - 1]!)).toBe(true);
});

it('a disk that is full neither blocks nor ends the service', () => {
  const path = fresh();
  const count = 20_000;
  const script = fixturePath('heph/limited-disk.mjs');
  const input = JSON.stringify({ path, count });
  // No file may grow beyond 200 KiB.
  const { stdout, stderr, status } = spawnSync(
    'bash',
    ['-c', `ulimit -f 200; exec "${process.execPath}" "${script}" '${input}'`],
    { encoding: 'utf8' },
  );
  expect(status).toBe(0);
  expect(stderr.match(/TRACEWRIGHT_TARGET_FAILS/g)).toHaveLength(1);
  const { tracedMs, flushed, large, stats } = JSON.parse(stdout) as {
    tracedMs: number;
    flushed: string;
    large?: string;
    stats: TraceStats;
  };
  expect(tracedMs).toBeLessThan(2000);
  expect(flushed).toBe('ERR_TIMEOUT');
  expect(large).toBeUndefined();
  expect(stats.dropped.ringFull).toBeGreaterThan(0);
  expect(stats.errors).toBeGreaterThan(0);
  expect(stats.lastError).toContain('File too large');
  expect(stats.pending.events).toBeGreaterThan(0);
  expect(stats.dropped.unsent).toBe(0);
  expect(stats.recorded).toBe(count + 1);
  // What the file did take is right up to where it broke off.
  const whole: number[] = [];
  expect(() => {
    for (const packet of readPackets(path)) {
      if (packet.kind === 'event') whole.push(packet.counter);
    }
  }).toThrow(TraceFormatError);
  expect(whole.length).toBeGreaterThanOrEqual(stats.written.events);
  whole.forEach((counter, i) => {
    if (counter !== i) throw new Error(`counter ${counter} in place of ${i}`);
  });
  // What did not reach the file is still in the ring's.
  expect(readdirSync(directory).filter((name) => name.includes(`${files}.heph`))).toHaveLength(2);
});

it('three workers and the main thread share one file', async () => {
  const path = fresh();
  const count = 30_000;
  const stats = await resultOfFixture<TraceStats>('heph/workers.mjs', {
    input: { target: path, options: { ringBytes: RING }, count },
  });
  expect(findingsOf(path)).toEqual([]);
  const counters = countersByStream(eventsOf(path));
  expect([...counters.keys()].sort()).toEqual([1, 2, 3, 4]);
  for (const each of counters.values()) expectComplete(each, count);
  expect(stats).toMatchObject({ recorded: 4 * count, dropped: { events: 0 }, errors: 0 });
  expect(existsSync(path)).toBe(true);
  expect(ringsIn(directory).filter((name) => name.includes(`${files}.heph`))).toEqual([]);
});
