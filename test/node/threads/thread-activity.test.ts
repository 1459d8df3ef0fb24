import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EventPacket } from '../../../src/heph/packet.js';
import { readPackets } from '../../../src/heph/read/reader.js';
import { readSpans } from '../../../src/spans/index.js';
import type { SpanRecord } from '../../../src/spans/index.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, hephFiles } from '../written-traces.js';

const MS = 1_000_000;
/** As Node calls what is expected here to be rare: a machine that has other things to do. */
const env = { TRACEWRIGHT_CONTEXT: 'on', TRACEWRIGHT_STALL_MS: '50' };

interface Sample extends Record<string, number> {
  start: number;
  end: number;
}

/** The samples of the main thread's loop, in the order of their times. */
function samplesOf(directory: string): Sample[] {
  return hephFiles(directory)
    .flatMap((path) => [...readPackets(path)])
    .filter((packet): packet is EventPacket => packet.kind === 'event')
    .filter(({ description, stream }) => description === 'tracewright.loop' && stream === 0)
    .map(({ start, end, attributes }) => {
      const values = Object.fromEntries(attributes.map(({ name, value }) => [name, Number(value)]));
      // The first one may have begun before the file.
      const { '~b': realStart = Number(start), '~e': realEnd = Number(end) } = values;
      return { ...values, start: realStart, end: realEnd };
    });
}

async function spansIn(directory: string): Promise<SpanRecord[]> {
  const spans: SpanRecord[] = [];
  for await (const span of readSpans(hephFiles(directory))) spans.push(span);
  return spans;
}

async function exit(service: TracedProcess): Promise<void> {
  await service.get('/exit');
  await service.ended();
  expect(faultsOf(service.directory)).toEqual([]);
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);

describe("an event loop's samples", () => {
  it('say how busy it was, and are none while it is idle', async () => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    await service.get('/nothing');
    await service.get('/turn');
    await pause(3500);
    await service.get('/turn');
    await pause(1500);
    await service.get('/nothing');
    await exit(service);
    const requests = (await spansIn(service.directory)).filter(
      ({ attributes }) => attributes['url.path'] === '/turn',
    );
    expect(requests).toHaveLength(2);
    const samples = samplesOf(service.directory);
    for (const [i, sample] of samples.entries()) {
      const { start, end, '~v': version, busy, turns, longest, delay } = sample;
      expect(version).toBe(2);
      // One ends with each stall, and another with the turn after it.
      const hasStalled = [samples[i - 1], sample].some(
        (each) => (each?.['longest'] ?? 0) >= 49 * MS,
      );
      if (!hasStalled) expect(end - start).toBeGreaterThan(999 * MS);
      expect(busy).toBeLessThanOrEqual(end - start);
      expect(turns).toBeGreaterThan(0);
      expect(longest).toBeLessThanOrEqual(busy!);
      expect(delay).toBeLessThanOrEqual(longest! / 2 + 1);
      const { heap, external, rss } = sample;
      expect(heap).toBeGreaterThan(1 << 20);
      expect(external).toBeGreaterThan(0);
      expect(rss).toBeGreaterThan(heap! + external!);
      if (i > 0) expect(start).toBeGreaterThanOrEqual(samples[i - 1]!.end);
    }
    // Two requests of a second each, of turns of 10 ms of CPU time.
    const busiest = samples.filter(({ busy, start, end }) => busy! > (end - start) / 4);
    expect(sum(samples.map(({ busy }) => busy!))).toBeGreaterThan(1800 * MS);
    for (const { longest } of busiest) expect(longest).toBeGreaterThan(9 * MS);
    expect(Math.max(...busiest.map(({ delay }) => delay!))).toBeGreaterThan(2 * MS);
    // The loop was idle between them.
    const gaps = samples.slice(1).map(({ start }, i) => start - samples[i]!.end);
    expect(gaps.filter((gap) => gap > 1000 * MS)).not.toEqual([]);
  });
});

describe('garbage collections', () => {
  const flags = ['--expose-gc'];

  /** The loop's samples of a service that has collected, whose trace has no span of it. */
  async function samplesWithoutSpans(limit: string): Promise<Sample[]> {
    const service = new TracedProcess('blocked-service.mjs', {
      env: { ...env, TRACEWRIGHT_GC_MS: limit },
      flags,
    });
    for (const path of ['/collect', '/turn', '/turn']) await service.get(path);
    await exit(service);
    const spans = await spansIn(service.directory);
    expect(spans.filter(({ scope }) => scope?.name === 'tracewright/gc')).toEqual([]);
    return samplesOf(service.directory);
  }

  it('are spans of the same trace as stalls, and are counted', async () => {
    const service = new TracedProcess('blocked-service.mjs', {
      env: { ...env, TRACEWRIGHT_GC_MS: '0' },
      flags,
    });
    await service.get('/loop');
    await service.get('/collect');
    await service.get('/turn');
    await service.get('/turn');
    await exit(service);
    const spans = await spansIn(service.directory);
    const collections = spans.filter(({ scope }) => scope?.name === 'tracewright/gc');
    const stall = spans.find(({ name }) => name === 'event loop blocked')!;
    for (const span of collections) {
      expect(span.name).toBe(`gc ${String(span.attributes['v8js.gc.type'])}`);
      expect(span).toMatchObject({ kind: 'internal', unfinished: false });
      expect(span.parentSpanId).toBeUndefined();
      expect(span.traceId).toBe(stall.traceId);
    }
    const request = spans.find(({ attributes }) => attributes['url.path'] === '/collect')!;
    const forced = collections.filter(
      ({ name, start, end }) => name === 'gc major' && start >= request.start && end <= request.end,
    );
    expect(forced).toHaveLength(1);
    const samples = samplesOf(service.directory);
    const counted = sum(samples.map(({ collections: count }) => count!));
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThanOrEqual(collections.length);
    const spent = sum(samples.map(({ gc }) => gc!));
    const recorded = sum(collections.map(({ start, end }) => Number(end - start)));
    expect(spent).toBeGreaterThan(Number(forced[0]!.end - forced[0]!.start));
    expect(spent).toBeLessThanOrEqual(recorded + collections.length * 1000);
  });

  it('are only counted if they are shorter than TRACEWRIGHT_GC_MS', async () => {
    const samples = await samplesWithoutSpans('60000');
    expect(sum(samples.map(({ collections }) => collections!))).toBeGreaterThan(0);
  });

  it('are all in the report, those that are no spans in a few events', async () => {
    const service = new TracedProcess('blocked-service.mjs', {
      env: { ...env, TRACEWRIGHT_GC_MS: '60000' },
      flags,
    });
    for (const path of ['/collect', '/turn', '/turn']) await service.get(path);
    await exit(service);
    const events = hephFiles(service.directory)
      .flatMap((path) => [...readPackets(path)])
      .filter((packet): packet is EventPacket => packet.kind === 'event')
      .filter(({ description }) => description === 'tracewright.gc');
    const lists = events.flatMap(({ attributes }) =>
      attributes.flatMap(({ name, value }) => (name === 'collections' ? [String(value)] : [])),
    );
    const listed = lists.flatMap((list) => list.split(','));
    expect(events.length).toBeLessThan(10);
    expect(listed.length).toBeGreaterThan(events.length);
    const { report } = await reportOn([service.directory]);
    const { collections } = report.interruptions;
    expect(sum(collections.map(({ count }) => count))).toBe(listed.length);
    expect(collections.map(({ name }) => name)).toContain('gc major');
    const spent = sum(listed.map((each) => Number(each.split(':')[1])));
    expect(sum(collections.map(({ total }) => total))).toBeCloseTo(spent, -3);
    const index = await openLookIndex([service.directory]);
    expect(index.details(0)).toBeDefined();
    index.close();
  });

  it('are neither with TRACEWRIGHT_GC_MS=off', async () => {
    const samples = await samplesWithoutSpans('off');
    expect(samples).not.toEqual([]);
    for (const sample of samples) expect(sample).not.toHaveProperty('gc');
  });
});

describe('the life of a thread', () => {
  it.each(['exit', 'SIGTERM', 'SIGKILL'])('is in the trace, ended by %s', async (way) => {
    const service = new TracedProcess('blocked-service.mjs', { env });
    const before = Date.now();
    await service.get('/nothing');
    await pause(300);
    if (way === 'exit') await service.get('/exit');
    else service.kill(way as NodeJS.Signals);
    await service.ended();
    const lived = Date.now() - before;
    const index = await openLookIndex([service.directory]);
    const [source] = index.sources;
    index.close();
    const { begin, end } = source!.lived!;
    // Its beginning is that of the process, and its end that of the process or the last sign of life.
    expect(begin).toBeLessThan(0);
    expect(end - begin).toBeLessThan(lived * MS);
    if (way !== 'SIGKILL') expect(end - begin).toBeGreaterThan(300 * MS);
  });

  it('is in the trace of a process that has recorded nothing else', async () => {
    const service = new TracedProcess('quiet.mjs', { env, args: ['1500'] });
    await service.ended();
    const index = await openLookIndex([service.directory]);
    const { begin, end } = index.sources[0]!.lived!;
    index.close();
    expect(end - begin).toBeGreaterThan(1000 * MS);
  });
});
