import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allFormats } from '../../src/traces/formats.js';
import { findTraces } from '../../src/traces/find-traces.js';
import { mergedChromeEvents } from '../../src/traces/merged-chrome-events.js';
import { MASK_WALL_TIME } from '../../src/dumpi/layout.js';
import { builtTrace } from '../dumpi/trace-building.js';
import type { BuiltCall } from '../dumpi/trace-building.js';
import { encodeEpoch, encodeEvent, someEvent } from '../heph/byte-by-byte-encoder.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { execute, i32, normal, writeVersion3 } from '../ovni/trace-building.js';

/**
 * Traces of which a part repeats `n` times. Each has been, or could be, a reason for a reader to look
 * at every part for every part.
 */
const shapes: Readonly<Record<string, { n: number; write: (path: string, n: number) => string }>> =
  {
    'Heph, one event with repeated attribute names': {
      n: 4000,
      write: (path, n) =>
        heph(path, [
          someEvent({
            attributes: Array.from({ length: n }, (_, i) => ({
              name: i % 2 === 0 ? 'name' : 'other',
              type: 'u64',
              value: BigInt(i),
            })),
          }),
        ]),
    },
    'Heph, each event in a substream of its own': {
      n: 4000,
      write: (path, n) =>
        heph(
          path,
          Array.from({ length: n }, (_, i) =>
            someEvent({ counter: i, substream: BigInt(i + 1), start: BigInt(i), end: 1_000_000n }),
          ),
        ),
    },
    'Heph, events that overlap in part': {
      n: 8000,
      write: (path, n) =>
        heph(
          path,
          Array.from({ length: n }, (_, i) =>
            someEvent({ counter: i, start: BigInt(i), end: BigInt(i + n) }),
          ),
        ),
    },
    'ovni, processes of the same number in many looms': {
      n: 150,
      write: (path, n) =>
        writeVersion3(
          Array.from({ length: n }, (_, i) => ({
            loom: `node${i}.1`,
            events: [execute(1000n), normal('OHe', 2000n)],
          })),
          path,
        ),
    },
    'ovni, a thread that moves the last of many threads': {
      n: 150,
      write: (path, n) =>
        writeVersion3(
          Array.from({ length: n }, (_, i) => ({
            tid: i + 1,
            events: [
              execute(1000n),
              ...(i > 0
                ? []
                : Array.from({ length: 200 * n }, (__, at) =>
                    normal('OAr', 2000n + BigInt(at), i32(at % 2, n)),
                  )),
              normal('OHe', 1_000_000n),
            ],
          })),
          path,
        ),
    },
    'ovni, marks that are never popped': {
      n: 4000,
      write: (path, n) =>
        writeVersion3(
          [
            {
              events: [
                execute(1000n),
                ...Array.from({ length: n }, (_, i) => {
                  const payload = Buffer.alloc(12);
                  payload.writeBigInt64LE(BigInt(i + 1));
                  return normal(i % 3 === 2 ? 'OM]' : 'OM[', 2000n + BigInt(i), payload);
                }),
                normal('OHe', 1_000_000n),
              ],
            },
          ],
          path,
        ),
    },
    'DUMPI, groups without a rank of a long one': {
      n: 250,
      write: (path, n) => {
        const ranks = Array.from({ length: 40 * n }, (_, i) => i);
        return dumpi(path, [
          { name: 'MPI_Comm_group', mask: 0, fields: { comm: 2, group: 100 } },
          {
            name: 'MPI_Group_incl',
            mask: 0,
            fields: { group: 100, count: ranks.length, ranks, newgroup: 101 },
          },
          ...Array.from({ length: 40 * n }, () => ({
            name: 'MPI_Group_excl' as const,
            mask: 0,
            fields: { group: 101, count: 1, ranks: [0], newgroup: 102 },
          })),
        ]);
      },
    },
    'DUMPI, functions that are entered and left in the wrong order': {
      n: 4000,
      write: (path, n) =>
        dumpi(
          path,
          Array.from({ length: n }, (_, i) => ({
            name: i % 3 === 2 ? ('Function_exit' as const) : ('Function_enter' as const),
            mask: MASK_WALL_TIME,
            fields: { fn: BigInt(i) },
          })),
        ),
    },
    'Laplace, kernel events': {
      n: 4000,
      write(path, n) {
        const lines = Array.from(
          { length: n },
          (_, i) => `s ${i.toString(16)} ${i.toString(16)}\n`,
        );
        writeFileSync(`${path}.kernel.txt`, `${lines.join('')}c\n`);
        return `${path}.kernel.txt`;
      },
    },
    'Laplace, references in text': {
      n: 4000,
      write(path, n) {
        writeFileSync(`${path}.references.txt`, 'r 1 4 1 1\n'.repeat(n));
        return `${path}.references.txt`;
      },
    },
  };

function heph(path: string, events: ReturnType<typeof someEvent>[]): string {
  const bytes = Buffer.concat([encodeEpoch(1n), ...events.map(encodeEvent)]);
  writeFileSync(`${path}.heph`, bytes);
  return `${path}.heph`;
}

function dumpi(path: string, calls: readonly BuiltCall[]): string {
  mkdirSync(path);
  const prefix = join(path, 'run');
  writeFileSync(`${prefix}-0000.bin`, builtTrace({ calls }));
  writeFileSync(
    `${prefix}.meta`,
    'hostname=h\nnumprocs=1\nusername=u\nstartime=1\nfileprefix=run\nversion=1\nsubversion=1\nsubsubversion=0\n',
  );
  return `${prefix}.meta`;
}

function count(all: Iterable<unknown>): number {
  let sum = 0;
  for (const each of all) sum += each === undefined ? 0 : 1;
  return sum;
}

/** What reads a trace from its first to its last byte. */
const jobs = {
  dump: (path: string) => {
    const [{ format }] = findTraces([path]) as [ReturnType<typeof findTraces>[0]];
    return count(format.dump(path, false, {}));
  },
  check: (path: string) => {
    const [{ format }] = findTraces([path]) as [ReturnType<typeof findTraces>[0]];
    return count(format.check(path, {}));
  },
  'convert to chrome': (path: string) => {
    const traces = findTraces([path]);
    if (traces[0]!.format.notDrawn !== undefined) return 0;
    return count(
      mergedChromeEvents(traces, {
        job: () => ({}),
        onFault(fault) {
          throw fault;
        },
      }),
    );
  },
};

/** Milliseconds of CPU time; the least of some runs. */
function time(run: () => unknown): number {
  let least = Infinity;
  for (let i = 0; i < 3; i++) {
    const from = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(from);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

/** Below this the clock and the collector of garbage decide. */
const LEAST_MS = 2;
/** Twice the input twice: 4 where time is linear, 16 where it is quadratic. */
const MOST_GROWTH = 9;

describe('reading takes linear time', { timeout: 240_000 }, () => {
  const directory = temporaryDirectory();
  it('of every format', () => {
    const names = allFormats('little').map(({ name }) => name.split('-', 1)[0]!.toLowerCase());
    const covered = Object.keys(shapes).map((shape) => shape.split(',', 1)[0]!.toLowerCase());
    expect(new Set(covered)).toEqual(new Set(names));
  });

  describe.each(Object.entries(shapes))('%s', (name, { n, write }) => {
    const place = join(directory, name.replaceAll(/\W/g, '-'));
    mkdirSync(place);
    const once = write(join(place, 'once'), n);
    const fourTimes = write(join(place, 'four-times'), 4 * n);
    it.each(Object.entries(jobs))('%s', (_, job) => {
      const before = Math.max(
        LEAST_MS,
        time(() => job(once)),
      );
      const after = time(() => job(fourTimes));
      expect(after / before).toBeLessThan(MOST_GROWTH);
    });
  });

  it('of many traces with the same process id', () => {
    const write = (name: string, n: number): string => {
      const place = join(directory, name);
      mkdirSync(place);
      for (let i = 0; i < n; i++) writeFileSync(join(place, `${i}.kernel.txt`), 's 1 1\nc\n');
      return place;
    };
    const [once, fourTimes] = [write('few', 200), write('many', 800)];
    const before = time(() => jobs['convert to chrome'](once));
    const after = time(() => jobs['convert to chrome'](fourTimes));
    expect(after / before).toBeLessThan(MOST_GROWTH);
  });
});
