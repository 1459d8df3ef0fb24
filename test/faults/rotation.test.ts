import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { checkTrace } from '../../src/heph/read/check.js';
import { checkTrace as checkOvni } from '../../src/ovni/read/check.js';
import { bytesOfPieces, piecesOf } from '../../src/heph/pieces.js';
import { readPackets } from '../../src/heph/read/reader.js';
import { recoverTrace } from '../../src/heph/read/recover.js';
import { openTrace } from '../../src/heph/index.js';
import type { TraceStats } from '../../src/heph/index.js';
import type { ProcessStats } from '../../src/ovni/index.js';
import { runFixture } from '../fixtures/run-fixture.js';
import { FaultyService } from './faulty-service.js';
import type { Stats } from './faulty-service.js';
import { hephNumbers, outOfOrder, ovniNumbers } from './numbered-traces.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-rotation-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

let places = 0;
function place(): { path: string; directory: string } {
  const directory = join(folder, String(++places));
  mkdirSync(directory);
  return { directory, path: join(directory, 'trace.heph') };
}

const RING = 65_536;
const MIB = 2 ** 20;

function ringsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.endsWith('.ring'));
}

/** What is wrong with a piece, apart from what only concerns the narrow converter. */
function faultsOf(path: string): string[] {
  return [...checkTrace(path)]
    .filter(({ rule }) => !rule.startsWith('converter-') && rule !== 'no-events')
    .map(({ rule, message }) => `${path}: ${rule}: ${message}`);
}

/** The numbers of every stream over all pieces, in their order. */
function numbersByStream(pieces: readonly string[]): Map<number, number[]> {
  const streams = new Map<number, number[]>();
  for (const piece of pieces) {
    for (const packet of readPackets(piece)) {
      if (packet.kind !== 'event') continue;
      const numbers = streams.get(packet.stream) ?? [];
      streams.set(packet.stream, numbers);
      numbers.push(Number(packet.attributes[0]!.value));
    }
  }
  return streams;
}

/**
 * The pieces in runs without a missing number. A piece that the ring of a resting thread feeds
 * outlives younger ones.
 */
function consecutive(pieces: readonly string[]): string[][] {
  const runs: string[][] = [];
  let previous = -1;
  for (const piece of pieces) {
    const number = Number(/(\d+)\.heph$/.exec(piece)![1]);
    if (number !== previous + 1) runs.push([]);
    runs.at(-1)!.push(piece);
    previous = number;
  }
  return runs;
}

/** Each stream goes on without a gap, from wherever the oldest of these pieces begins. */
function expectContiguous(streams: ReadonlyMap<number, readonly number[]>): void {
  for (const [stream, numbers] of streams) {
    const gap = numbers.findIndex((number, i) => i > 0 && number !== numbers[i - 1]! + 1);
    if (gap !== -1) {
      throw new Error(`stream ${stream}: ${numbers[gap]!} follows ${numbers[gap - 1]!}`);
    }
  }
}

describe('a Heph trace that rotates', () => {
  it('keeps every event while nothing bounds it, in pieces that are whole', async () => {
    const { path, directory } = place();
    const { code, stdout, stderr } = await runFixture('faults/rotating-workers.mjs', {
      input: {
        path,
        count: 20_000,
        acknowledged: join(directory, 'acknowledged'),
        options: { ringBytes: RING, rotateBytes: MIB },
      },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const pieces = piecesOf(path);
    expect(existsSync(path)).toBe(false);
    expect(pieces.length).toBeGreaterThan(6);
    expect(pieces[0]).toBe(join(directory, 'trace.000001.heph'));
    for (const piece of pieces) expect(statSync(piece).size).toBeLessThanOrEqual(MIB);
    expect(pieces.flatMap(faultsOf)).toEqual([]);
    const streams = numbersByStream(pieces);
    expectContiguous(streams);
    for (const stream of [0, 1, 2]) expect(streams.get(stream)).toHaveLength(20_000);
    const stats = JSON.parse(stdout.trim().split('\n').at(-1)!) as TraceStats;
    expect(stats.written.events).toBe(60_000);
    expect(ringsIn(directory)).toEqual([]);
  });

  it('loses its oldest pieces, and never more than it must', async () => {
    const { path, directory } = place();
    const maxBytes = 4 * MIB;
    const input = {
      path,
      count: 20_000,
      acknowledged: join(directory, 'acknowledged'),
      options: { ringBytes: RING, maxBytes, rotateBytes: MIB / 2 },
    };
    // A second run counts what the first has left.
    for (const run of [1, 2]) {
      const { code, stderr } = await runFixture('faults/rotating-workers.mjs', { input });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(bytesOfPieces(path)).toBeLessThanOrEqual(maxBytes);
      expect(bytesOfPieces(path)).toBeGreaterThan(maxBytes / 2);
      const pieces = piecesOf(path);
      expect(pieces.flatMap(faultsOf)).toEqual([]);
      if (run === 1) consecutive(pieces).map(numbersByStream).forEach(expectContiguous);
      // The slowest thread is the last to write.
      expect(numbersByStream(pieces).get(2)!.at(-1)).toBe(19_999);
      expect(ringsIn(directory)).toEqual([]);
    }
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('survives a kill, round %i', async (round) => {
    const { path, directory } = place();
    const ringDir = round % 2 === 0 ? undefined : join(directory, 'rings');
    if (ringDir !== undefined) mkdirSync(ringDir);
    const maxBytes = 3 * MIB;
    const acknowledged = join(directory, 'acknowledged');
    const { signal } = await runFixture('faults/rotating-workers.mjs', {
      input: {
        path,
        count: 10_000_000,
        acknowledged,
        options: { ringBytes: RING, maxBytes, rotateBytes: MIB / 4, ringDir },
      },
      onOutput: (child) => {
        void sleep(150 + 37 * round).then(() => child.kill('SIGKILL'));
      },
    });
    expect(signal).toBe('SIGKILL');
    for (const piece of piecesOf(path)) {
      const { faults } = recoverTrace(piece, ringDir === undefined ? {} : { ringDir });
      expect(faults).toEqual([]);
    }
    expect(ringsIn(ringDir ?? directory)).toEqual([]);
    const pieces = piecesOf(path);
    expect(pieces.flatMap(faultsOf)).toEqual([]);
    consecutive(pieces).map(numbersByStream).forEach(expectContiguous);
    for (const [stream, numbers] of numbersByStream(pieces)) {
      expect(outOfOrder(numbers)).toBeUndefined();
      const reached = readFileSync(`${acknowledged}.${stream}`);
      // Empty where the kill came before the first acknowledgement.
      if (reached.length > 0) expect(numbers.at(-1)).toBeGreaterThanOrEqual(reached.readUInt32LE());
    }
    // What the rings held comes on top.
    expect(bytesOfPieces(path)).toBeLessThanOrEqual(maxBytes + 3 * RING);

    // The next process goes on where this one ended, and within the budget.
    const trace = openTrace(path, { ringBytes: RING, maxBytes, rotateBytes: MIB / 4 });
    const last = piecesOf(path).at(-1)!;
    expect(pieces).not.toContain(last);
    trace.stream(9).finishTrace(trace.stream(9).startTrace(), 'event', { n: 1 });
    await trace.close();
    expect(hephNumbers(last)).toEqual([1]);
    expect(bytesOfPieces(path)).toBeLessThanOrEqual(maxBytes);
  });

  it('moves on to a new piece when somebody removes the present one', async () => {
    const { path } = place();
    const trace = openTrace(path, { ringBytes: RING, rotateBytes: MIB });
    const stream = trace.stream();
    stream.finishTrace(stream.startTrace(), 'event', { n: 1 });
    await trace.flush();
    rmSync(piecesOf(path)[0]!);
    stream.finishTrace(stream.startTrace(), 'event', { n: 2 });
    await trace.flush();
    await trace.close();
    expect(piecesOf(path).map(hephNumbers)).toEqual([[2]]);
  });
});

describe('a budget that stops the trace', () => {
  it.each([undefined, MIB / 2])('once, told and counted, rotateBytes %s', async (rotateBytes) => {
    const { path } = place();
    const maxBytes = 2 * MIB;
    const service = new FaultyService({
      heph: path,
      options: { ringBytes: RING, maxBytes, rotateBytes, atMaxBytes: 'stop' },
    });
    await service.do('open');
    await service.emit(100_000);
    await service.told(() => service.warnings.length === 1);
    await service.emit(1000);
    const stats = await service.do<Stats>('close');
    expect(service.warnings).toEqual(['TRACEWRIGHT_BUDGET_SPENT']);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    const pieces = rotateBytes === undefined ? [path] : piecesOf(path);
    const bytes = pieces.reduce((sum, piece) => sum + statSync(piece).size, 0);
    expect(bytes).toBeLessThanOrEqual(maxBytes);
    expect(bytes).toBeGreaterThan(maxBytes / 2);
    // The beginning, whole; nothing is left for a recovery.
    expect(pieces.flatMap(faultsOf)).toEqual([]);
    const numbers = pieces.flatMap(hephNumbers);
    expect(numbers).toHaveLength(stats.n - stats.heph.dropped.events);
    expect(numbers.every((number, i) => number === i)).toBe(true);
    expect(stats.heph.pending.events + stats.heph.dropped.unsent).toBe(0);
  });
});

describe('a record that is longer than the ring', () => {
  const attributes = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, 'x'.repeat(60_000)]));

  it.each(['stop', 'deleteOldest'] as const)('keeps to the budget, %s', async (atMaxBytes) => {
    const { path } = place();
    const trace = openTrace(path, { ringBytes: RING, maxBytes: MIB, atMaxBytes });
    const stream = trace.stream(1);
    const emit = (count: number): void => {
      for (let i = 0; i < count; i++) stream.finishTrace(stream.startTrace(), 'event', {});
    };
    const bytes = (): number => (atMaxBytes === 'stop' ? statSync(path).size : bytesOfPieces(path));
    emit(atMaxBytes === 'stop' ? 100 : 50_000);
    for (const [count, dropped] of [
      [15, 0],
      [200, 1],
      [15, atMaxBytes === 'stop' ? 2 : 1],
      [18, atMaxBytes === 'stop' ? 3 : 2],
    ] as const) {
      stream.finishTrace(stream.startTrace(), 'long', attributes(count));
      expect(trace.stats().dropped.events).toBe(dropped);
      expect(bytes()).toBeLessThanOrEqual(MIB);
      emit(100);
      await trace.flush();
      expect(bytes()).toBeLessThanOrEqual(MIB);
    }
    expect(trace.stats().lastError ?? '').toBe('');
    await trace.close();
    const pieces = atMaxBytes === 'stop' ? [path] : piecesOf(path);
    // What is missing is what was dropped.
    const gaps = pieces.flatMap(faultsOf).filter((text) => text.includes('counter-gap'));
    expect(pieces.flatMap(faultsOf)).toEqual(gaps);
    const lengths = pieces
      .flatMap((piece) => [...readPackets(piece)])
      .flatMap((packet) => (packet.kind === 'event' ? [packet.attributes.length] : []));
    expect(lengths.filter((length) => length > 10)).toHaveLength(1);
    expect(lengths.at(-1)).toBeLessThan(10);
  });

  it('of ovni, likewise', async () => {
    const { directory } = place();
    const { stdout } = await runFixture('faults/ovni-long-records.mjs', { input: { directory } });
    const { bytes, stats } = JSON.parse(stdout) as { bytes: number; stats: ProcessStats };
    expect(bytes).toBeLessThanOrEqual(MIB);
    expect(stats.droppedEvents).toBe(2);
    expect([...checkOvni(directory)].filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

describe('an ovni process with a budget', () => {
  it.each([1, 3] as const)('stops once, and its trace is complete, version %i', async (version) => {
    const { directory } = place();
    const ovniDir = join(directory, 'ovni');
    const service = new FaultyService({
      ovniDir,
      version,
      options: { ringBytes: RING, maxBytes: MIB },
    });
    await service.do('open');
    await service.emit(200_000);
    await service.told(() => service.warnings.length === 1);
    const { n, ovni } = await service.do<Stats>('close');
    expect(service.warnings).toEqual(['TRACEWRIGHT_BUDGET_SPENT']);
    expect(await service.end()).toEqual({ code: 0, signal: null });
    expect([...checkOvni(ovniDir)]).toEqual([]);
    const numbers = ovniNumbers(ovniDir);
    expect(numbers).toHaveLength(n - ovni.droppedEvents);
    expect(numbers.every((number, i) => number === i)).toBe(true);
    expect(ovni.writtenBytes).toBeLessThanOrEqual(MIB);
    expect(ovni.writtenBytes).toBeGreaterThan(MIB / 2);
  });
});

describe('limits', () => {
  it.each([
    [{ maxBytes: 4 * RING - 1 }, 'maxBytes'],
    [{ rotateBytes: 2 * RING - 1 }, 'rotateBytes'],
    [{ maxBytes: MIB, rotateBytes: MIB }, 'rotateBytes'],
    [{ atMaxBytes: 'never' }, 'atMaxBytes'],
  ])('%j is out of range', (options, field) => {
    const { path } = place();
    expect(() => openTrace(path, { ringBytes: RING, ...(options as object) })).toThrow(
      expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field }),
    );
  });
});
