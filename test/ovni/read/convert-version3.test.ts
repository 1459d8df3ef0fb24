import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TraceFormatError, TracewrightError } from '../../../src/core/errors.js';
import { models } from '../../../src/ovni/catalog.js';
import { checkTrace } from '../../../src/ovni/read/check.js';
import { convertToVersion3 } from '../../../src/ovni/read/convert-version3.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { goldenTrace } from '../golden-trace.js';
import {
  T0,
  cpus,
  execute,
  mark,
  normal,
  streamHeader,
  temporaryFolder,
  writeFileIn,
  writeVersion1,
  writeVersion3,
} from '../trace-building.js';

const HOUR = 3_600_000_000_000n;
const emulator = process.env['OVNIEMU'];
const stream = 'loom.node.1/proc.1/thread.1';

const life = (...between: Buffer[]): Buffer[] => [
  execute(T0),
  ...between,
  normal('OHe', T0 + 9999n),
];

const freshPath = (): string => join(temporaryFolder(), 'deep', 'converted');

const jsonOf = (folder: string, path = stream): unknown =>
  JSON.parse(readFileSync(join(folder, path, 'stream.json'), 'utf8'));

/** By the check, and by the emulator where it is there. */
function expectAccepted(folder: string): void {
  expect([...checkTrace(folder)]).toEqual([]);
  if (emulator !== undefined) expect(spawnSync(emulator, [folder]).status).toBe(0);
}

describe('convertToVersion3', () => {
  test('the CPUs of a process are written once, in its first thread with events', () => {
    const threads = [1, 2, 3].map((tid) => ({ tid, events: tid === 1 ? [] : life() }));
    const to = freshPath();
    convertToVersion3(writeVersion1(threads), to);
    const cpusOf = [2, 3].map((tid) => {
      const { ovni } = jsonOf(to, `loom.node.1/proc.1/thread.${tid}`) as { ovni: object };
      return 'loom_cpus' in ovni;
    });
    expect(cpusOf).toEqual([true, false]);
    expectAccepted(to);
  });

  test('the golden trace, byte for byte but for its marks', () => {
    const to = freshPath();
    const from = goldenTrace(1).trace;
    const path = 'loom.node0.1000/proc.4242/thread.4242';
    const { threads, events, notes } = convertToVersion3(from, to);
    expect({ threads, events }).toEqual({ threads: 1, events: 9 });
    expect(notes).toMatchObject([{ message: expect.stringContaining('"X"') as string }]);
    expect(readFileSync(join(to, path, 'stream.obs'))).toEqual(
      Buffer.concat([streamHeader(), readFileSync(join(from, path))]),
    );
    expect(jsonOf(to, path)).toEqual({
      version: 3,
      ovni: {
        lib: { version: expect.any(String) as string, commit: expect.any(String) as string },
        part: 'thread',
        tid: 4242,
        pid: 4242,
        loom: 'node0.1000',
        app_id: 1,
        require: { ovni: models.ovni.version, nosv: models.nosv.version },
        rank: 0,
        nranks: 2,
        loom_cpus: cpus,
        finished: 1,
      },
    });
  });

  test('marks, attributes and required models come from the private key', () => {
    const own = {
      ovni: {
        require: { ovni: '1.1.0', nosv: '2.4.0' },
        mark: { 3: { title: 'Request', chan_type: 'stack', labels: { 7: 'GET /' } } },
        finished: 1,
      },
      app: { name: 'golden' },
    };
    const from = writeVersion1(
      [
        {
          events: life(
            mark('OM[', T0, 7, 3),
            normal('VS@', T0),
            normal('MS[', T0),
            normal('MS]', T0),
          ),
        },
      ],
      { 1: { rank: 0, nranks: 1, tracewright: { threads: { 1: own } } } },
    );
    const to = freshPath();
    expect(convertToVersion3(from, to)).toMatchObject({ threads: 1, events: 6, notes: [] });
    expect(jsonOf(to)).toMatchObject({
      ovni: {
        require: { ovni: '1.1.0', nosv: '2.4.0', mpi: models.mpi.version },
        mark: own.ovni.mark,
        rank: 0,
        nranks: 1,
        finished: 1,
      },
      app: { name: 'golden' },
    });
    expect([...checkTrace(to)].map(({ rule }) => rule)).toEqual(['mark-left']);
    if (emulator !== undefined) expect(spawnSync(emulator, [to]).status).toBe(0);
  });

  test('several looms, processes and threads', () => {
    const from = writeVersion1([
      { events: life() },
      { tid: 2, events: life() },
      { pid: 2, tid: 3, events: life() },
      { loom: 'other.1', pid: 3, tid: 4, events: life() },
    ]);
    const to = freshPath();
    expect(convertToVersion3(from, to)).toMatchObject({ threads: 4, events: 8, notes: [] });
    const trace = readTraceDirectory(to);
    expect(trace.looms.map(({ name, processes }) => [name, processes.length])).toEqual([
      ['node.1', 2],
      ['other.1', 1],
    ]);
    expectAccepted(to);
  });

  test('half an event at the end is left out', () => {
    const from = writeVersion1([{ events: [...life(), Buffer.from('\0OB.')] }]);
    const to = freshPath();
    expect(convertToVersion3(from, to).notes).toEqual([
      { path: join(from, stream), message: 'cut at byte 40 of 44, after the last complete event' },
    ]);
    expectAccepted(to);
  });

  test('a thread without events is left out', () => {
    const from = writeVersion1([{ events: life() }, { tid: 2, events: [] }]);
    const to = freshPath();
    expect(convertToVersion3(from, to)).toMatchObject({
      threads: 1,
      notes: [{ path: join(from, 'loom.node.1/proc.1/thread.2') }],
    });
    expectAccepted(to);
  });

  test('a thread that begins hours later is led by an OB.', () => {
    const late = T0 + 5n * HOUR;
    const from = writeVersion1([
      { events: life() },
      { tid: 2, events: [execute(late), normal('OHe', late + 1n)] },
      { tid: 3, events: [execute(T0 + HOUR), normal('OHe', late)] },
      { loom: 'elsewhere', pid: 9, tid: 4, events: life() },
    ]);
    const to = freshPath();
    const { notes } = convertToVersion3(from, to);
    expect(notes).toMatchObject([{ path: join(from, 'loom.node.1/proc.1/thread.2') }]);
    expect(readFileSync(join(to, 'loom.node.1/proc.1/thread.2/stream.obs'))).toEqual(
      Buffer.concat([streamHeader(), normal('OB.', T0), execute(late), normal('OHe', late + 1n)]),
    );
    expectAccepted(to);
  });

  test('hosts are not lined up by an OB., their offsets come along', () => {
    const late = T0 + 5n * HOUR;
    const from = writeVersion1([
      { events: life() },
      { loom: 'b', pid: 9, tid: 2, events: [execute(late), normal('OHe', late)] },
    ]);
    const table = `rank hostname offset_median offset_mean offset_std\n0 node 0 0 0\n1 b ${-5n * HOUR} 0 0\n`;
    writeFileIn(from, 'clock-offsets.txt', table);
    const to = freshPath();
    expect(convertToVersion3(from, to).notes).toEqual([]);
    expect(readFileSync(join(to, 'clock-offsets.txt'), 'utf8')).toBe(table);
    expectAccepted(to);
  });

  test('what cannot be mended is noted, and left', () => {
    const from = writeVersion1(
      [{ events: [execute(T0 + 5n), normal('OB.', T0), normal('MS[', T0)] }],
      { 1: { tracewright: { threads: {} } } },
    );
    const to = freshPath();
    const messages = convertToVersion3(from, to).notes.map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringContaining('no end (its last state event: OHx)'),
      expect.stringContaining('goes back 1 times'),
      expect.stringContaining('OpenMP in old traces'),
      expect.stringContaining('not marked finished'),
    ]);
    expect(jsonOf(to)).not.toHaveProperty('ovni.finished');
    const rules = [...checkTrace(to)].map(({ rule }) => rule);
    expect(rules).toEqual(['not-finished', 'clock-backwards', 'thread-not-ended', 'region-left']);
  });

  test('nothing is overwritten', () => {
    const from = writeVersion1([{ events: life() }]);
    const to = freshPath();
    mkdirSync(to, { recursive: true });
    writeFileIn(to, 'kept', 'kept');
    expect(() => convertToVersion3(from, to)).toThrow(TracewrightError);
    expect(() => convertToVersion3(from, to)).toThrow(/exists: choose another path/);
    expect(readFileSync(join(to, 'kept'), 'utf8')).toBe('kept');
  });

  test('what is refused leaves nothing behind', () => {
    const to = freshPath();
    expect(() => convertToVersion3(writeVersion3([{ events: life() }]), to)).toThrow(
      /is a trace of version 3; only version 1 is converted/,
    );
    const from = writeVersion1([{ events: life() }]);
    expect(() => convertToVersion3(from, join(from, 'v3'))).toThrow(/outside of the trace/);
    const broken = writeVersion1([{ events: life() }], { 1: { app_id: 'x' } });
    expect(() => convertToVersion3(broken, to)).toThrow(TraceFormatError);
    expect(() => convertToVersion3(join(from, 'missing'), to)).toThrow(TracewrightError);
    expect(existsSync(to)).toBe(false);
  });

  test('a failure in the middle leaves nothing behind', () => {
    // Two folders of one process: the second would be written over the first.
    const from = writeVersion1([{ events: life() }]);
    writeVersion1([{ events: life() }], {}, join(from, 'again'));
    const to = freshPath();
    expect(() => convertToVersion3(from, to)).toThrow(TracewrightError);
    expect(existsSync(to)).toBe(false);
  });

  test('progress goes up to the whole', () => {
    const from = writeVersion1([{ events: life() }, { tid: 2, events: life() }]);
    const steps: [number, number][] = [];
    convertToVersion3(from, freshPath(), { onProgress: (...step) => steps.push(step) });
    const [done, total] = steps.at(-1)!;
    expect(total).toBe(2 * 2 * 40);
    expect(done).toBe(total);
    expect(steps.map(([at]) => at)).toEqual(steps.map(([at]) => at).sort((a, b) => a - b));
  });
});
