import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { core } from '../../src/core/addon.js';
import { allFormats } from '../../src/traces/formats.js';
import { findTraces } from '../../src/traces/find-traces.js';
import { PictureExport } from '../../src/export/picture/picture-export.js';
import { MASK_WALL_TIME } from '../../src/dumpi/layout.js';
import { tracewright } from '../cli/run-command.js';
import { cpuMs } from '../cpu-time.js';
import { builtTrace } from '../dumpi/trace-building.js';
import type { BuiltCall, BuiltTrace } from '../dumpi/trace-building.js';
import { DEFINITION_STREAM } from '../../src/heph/layout.js';
import { recoverTrace as recoverHeph } from '../../src/heph/read/recover.js';
import { PacketDecoder } from '../../src/heph/read/reader.js';
import type { Attribute } from '../../src/heph/packet.js';
import { referencesToText, textToReferences } from '../../src/laplace/read/convert-references.js';
import { convertToVersion3 } from '../../src/ovni/read/convert-version3.js';
import {
  CLOCK_DESCRIPTION,
  CLOCK_REAL,
  EVENT,
  FLAGS,
  LINK,
  PARENT_ID,
  RESOURCE_DESCRIPTION,
  SCOPE_DESCRIPTION,
  SPAN_ID,
  TRACE_HIGH,
  VERSION,
} from '../../src/spans/layout.js';
import { readSpansOf } from '../../src/spans/read/read-spans.js';
import { encodeEpoch, encodeEvent, someEvent } from '../heph/byte-by-byte-encoder.js';
import type { EventFields } from '../heph/byte-by-byte-encoder.js';
import { runFixture } from '../fixtures/run-fixture.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import {
  execute,
  i32,
  mark,
  normal,
  writeVersion1,
  writeVersion3,
} from '../ovni/trace-building.js';

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
    'Heph, each event in a stream of its own': {
      n: 4000,
      write: (path, n) =>
        heph(
          path,
          Array.from({ length: n }, (_, i) =>
            someEvent({ stream: i, start: BigInt(i), end: 1_000_000n }),
          ),
        ),
    },
    'Heph, events within events': {
      n: 8000,
      write: (path, n) =>
        heph(
          path,
          // Inner events end first, and so come first.
          Array.from({ length: n }, (_, i) =>
            someEvent({ counter: i, start: BigInt(n - i), end: BigInt(n + i) }),
          ),
        ),
    },
    'Heph, clocks and definitions': {
      n: 4000,
      write: (path, n) =>
        heph(
          path,
          Array.from({ length: n }, (_, i) => [
            definition(i % 60_000, i),
            clock(i),
            span(i, { attributes: [] }),
          ]).flat(),
        ),
    },
    'Heph, one span of many events, links and repeated names': {
      n: 2000,
      write: (path, n) =>
        heph(path, [
          span(1, {
            attributes: Array.from({ length: n }, (_, i) => [
              { name: EVENT, type: 'string' as const, value: 'event' },
              { name: 'name', type: 'u64' as const, value: BigInt(i) },
              { name: LINK, type: 'u64' as const, value: BigInt(i) },
              { name: 'name', type: 'u64' as const, value: BigInt(i) },
            ]).flat(),
          }),
        ]),
    },
    'Heph, one long array': {
      n: 16_000,
      write: (path, n) =>
        heph(
          path,
          Array.from({ length: 4 }, () =>
            someEvent({
              attributes: [{ name: 'list', type: 'string[]', value: Array<string>(n).fill('ä') }],
            }),
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
    'ovni, marks of many types and labels': {
      n: 400,
      write: (path, n) =>
        writeVersion3(
          [
            {
              events: [
                execute(1000n),
                ...Array.from({ length: 4 * n }, (_, i) =>
                  mark('OM=', 2000n + BigInt(i), (i % n) + 1, i % 50),
                ),
                normal('OHe', 1_000_000n),
              ],
              ovni: {
                mark: Object.fromEntries(
                  Array.from({ length: 50 }, (_, type) => [
                    type,
                    {
                      title: `type ${type}`,
                      chan_type: 'single',
                      labels: Object.fromEntries(
                        Array.from({ length: n }, (__, value) => [value + 1, `label ${value}`]),
                      ),
                    },
                  ]),
                ),
              },
            },
          ],
          path,
        ),
    },
    'ovni, events before the thread begins, with clocks that go back': {
      n: 8000,
      write: (path, n) =>
        writeVersion3(
          [
            {
              events: [
                ...Array.from({ length: n }, (_, i) => normal('OB.', BigInt(2 * n - i))),
                execute(BigInt(3 * n)),
                normal('OHe', BigInt(4 * n)),
              ],
            },
          ],
          path,
        ),
    },
    'ovni, threads of one process on many CPUs': {
      n: 150,
      write: (path, n) =>
        writeVersion3(
          Array.from({ length: n }, (_, i) => ({
            tid: i + 1,
            events: [execute(1000n, i), normal('OHe', 2000n)],
            // One thread names them for all.
            ...(i === 0 && {
              ovni: {
                loom_cpus: Array.from({ length: n }, (__, index) => ({ index, phyid: index })),
              },
            }),
          })),
          path,
        ),
    },
    'ovni 1, threads of many processes': {
      n: 150,
      write: (path, n) =>
        writeVersion1(
          Array.from({ length: n }, (_, i) => ({
            pid: i + 1,
            tid: i + 1,
            events: [execute(1000n), normal('OB.', 1500n), normal('OHe', 2000n)],
          })),
          {},
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
    'DUMPI, requests that are waited for at the end': {
      n: 2000,
      write: (path, n) =>
        dumpi(path, [
          ...Array.from({ length: n }, (_, request) => ({
            name: 'MPI_Isend' as const,
            mask: 0,
            fields: { count: 1, datatype: 2, dest: 0, tag: n - request, comm: 2, request },
          })),
          ...Array.from({ length: n }, (_, tag) => ({
            name: 'MPI_Irecv' as const,
            mask: 0,
            fields: { count: 1, datatype: 2, source: -1, tag, comm: 2, request: n + tag },
          })),
          ...Array.from({ length: 2 * n }, (_, request) => ({
            name: 'MPI_Wait' as const,
            mask: 0,
            fields: { request, status: null },
          })),
        ]),
    },
    'DUMPI, communicators of communicators': {
      n: 2000,
      write: (path, n) =>
        dumpi(
          path,
          Array.from({ length: n }, (_, i) => ({
            name: 'MPI_Comm_dup' as const,
            mask: 0,
            fields: { oldcomm: 2 + i, newcomm: 3 + i },
          })),
        ),
    },
    'DUMPI, datatypes of datatypes': {
      n: 2000,
      write: (path, n) =>
        dumpi(
          path,
          Array.from({ length: n }, (_, i) => ({
            name: 'MPI_Type_contiguous' as const,
            mask: 0,
            fields: { count: 1, oldtype: i === 0 ? 2 : 99 + i, newtype: 100 + i },
          })),
        ),
    },
    'DUMPI, functions within functions, and their names': {
      n: 4000,
      write: (path, n) => {
        const all = Array.from({ length: n }, (_, i) => BigInt(i));
        return dumpi(
          path,
          [
            ...all.map((fn) => ({
              name: 'Function_enter' as const,
              mask: MASK_WALL_TIME,
              fields: { fn },
            })),
            ...all.toReversed().map((fn) => ({
              name: 'Function_exit' as const,
              mask: MASK_WALL_TIME,
              fields: { fn },
            })),
          ],
          all.map((address) => ({ address, name: `function ${address}` })),
        );
      },
    },
    'DUMPI, many ranks': {
      n: 60,
      write(path, n) {
        mkdirSync(path);
        const prefix = join(path, 'run');
        for (let rank = 0; rank < n; rank++) {
          const calls = [
            {
              name: 'MPI_Send' as const,
              mask: 0,
              fields: { count: 1, datatype: 2, dest: (rank + 1) % n, tag: 0, comm: 2 },
            },
          ];
          writeFileSync(`${prefix}-${String(rank).padStart(4, '0')}.bin`, builtTrace({ calls }));
        }
        return metafile(prefix, n);
      },
    },
    'Laplace, kernel events of many tasks and spaces': {
      n: 2000,
      write(path, n) {
        const hex = (i: number): string => i.toString(16);
        const lines = Array.from(
          { length: n },
          (_, i) =>
            `F ${hex(4 * i)} ${hex(i)} ${hex(i + 1)}\nA ${hex(4 * i + 1)} ${hex(i)} ${hex(i)}\n` +
            `m ${hex(4 * i + 2)} ${hex(i)} ${hex(4096 * i)} 1000\n`,
        );
        writeFileSync(`${path}.kernel.txt`, `${lines.join('')}c\n`);
        return `${path}.kernel.txt`;
      },
    },
    'Laplace, references in binary': {
      n: 8000,
      write(path, n) {
        const record = Buffer.alloc(18);
        record.write('r');
        record[9] = 4;
        writeFileSync(`${path}.references`, Buffer.alloc(18 * n, record));
        return `${path}.references`;
      },
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

/** An event as tracewright/spans records a span. */
function span(id: number, { attributes }: Pick<EventFields, 'attributes'>): EventFields {
  const word = (name: string, value: number): Attribute => {
    return { name, type: 'u64', value: BigInt(value) };
  };
  return someEvent({
    counter: id,
    substream: 1n,
    start: BigInt(id),
    end: BigInt(id + 1),
    attributes: [
      word(TRACE_HIGH, 1),
      word(SPAN_ID, id + 1),
      word(PARENT_ID, 0),
      word(FLAGS, 0),
      ...attributes,
    ],
  });
}

function definition(number: number, i: number): EventFields {
  return someEvent({
    stream: DEFINITION_STREAM,
    counter: number,
    description: i % 2 === 0 ? RESOURCE_DESCRIPTION : SCOPE_DESCRIPTION,
    attributes: [
      { name: VERSION, type: 'u64', value: 1n },
      { name: 'name', type: 'string', value: `number ${i}` },
    ],
  });
}

/** A clock that jumps. */
function clock(i: number): EventFields {
  return someEvent({
    counter: i,
    start: BigInt(i),
    description: CLOCK_DESCRIPTION,
    attributes: [
      { name: VERSION, type: 'u64', value: 1n },
      { name: CLOCK_REAL, type: 'u64', value: BigInt(i) * 10_000_000_000n },
    ],
  });
}

function dumpi(
  path: string,
  calls: readonly BuiltCall[],
  functionNames: BuiltTrace['functionNames'] = [],
): string {
  mkdirSync(path);
  const prefix = join(path, 'run');
  writeFileSync(`${prefix}-0000.bin`, builtTrace({ calls, functionNames }));
  return metafile(prefix, 1);
}

function metafile(prefix: string, ranks: number): string {
  writeFileSync(
    `${prefix}.meta`,
    `hostname=h\nnumprocs=${ranks}\nusername=u\nstartime=1\nfileprefix=run\nversion=1\nsubversion=1\nsubsubversion=0\n`,
  );
  return `${prefix}.meta`;
}

function count(all: Iterable<unknown>): number {
  let sum = 0;
  for (const each of all) sum += each === undefined ? 0 : 1;
  return sum;
}

/** Where the next conversion goes. */
let conversions = 0;

/** What reads a trace from its first to its last byte. */
const jobs: Readonly<Record<string, (path: string) => unknown>> = {
  dump: (path: string) => {
    const [{ format }] = findTraces([path]) as [ReturnType<typeof findTraces>[0]];
    return count(format.dump(path, false, {}));
  },
  check: (path: string) => {
    const [{ format }] = findTraces([path]) as [ReturnType<typeof findTraces>[0]];
    return count(format.check(path, {}));
  },
  'convert to perfetto': (path: string) => {
    const traces = findTraces([path]);
    if (traces[0]!.format.notDrawn !== undefined) return 0;
    return count(new PictureExport(traces).chunks());
  },
};

/** What reads or converts traces of one format only. */
const ownJobs: Readonly<Record<string, Readonly<Record<string, (path: string) => unknown>>>> = {
  heph: {
    async readSpans(path) {
      let spans = 0;
      for await (const each of readSpansOf(path, {})) spans += each.events.length;
      return spans;
    },
    'a connection, in pieces'(path) {
      const decoder = new PacketDecoder();
      const bytes = readFileSync(path);
      for (let at = 0; at < bytes.length; at += 1000) decoder.push(bytes.subarray(at, at + 1000));
      decoder.end();
    },
  },
  'ovni 1': {
    'convert to ovni3': (path) => convertToVersion3(path, `${path}-${++conversions}.ovni3`),
  },
  laplace: {
    'convert to the other form': (path) => {
      if (path.endsWith('.kernel.txt')) return undefined;
      const convert = path.endsWith('.txt') ? textToReferences : referencesToText;
      return convert(path, `${path}.${++conversions}.out`, { endian: 'little' });
    },
  },
};

/** Milliseconds of CPU time. */
async function time(run: () => unknown): Promise<number> {
  const from = cpuMs();
  await run();
  return cpuMs() - from;
}

/** How many times longer the longer input takes: the least of up to three runs, while it is too long. */
async function growth(short: () => unknown, long: () => unknown): Promise<number> {
  // Code that is not compiled yet would make the shorter one look long.
  await short();
  let [before, after, times] = [Infinity, Infinity, 0];
  for (let i = 0; i < 3; i++) {
    before = Math.min(before, await time(short));
    after = Math.min(after, await time(long));
    times = after / Math.max(LEAST_MS, before);
    if (times < MOST_GROWTH) break;
  }
  return times;
}

/** Below this the clock and the collector of garbage decide. */
const LEAST_MS = 2;
/** Twice the input twice: 4 where time is linear, 16 where it is quadratic. */
const MOST_GROWTH = 9;

describe('reading takes linear time', { timeout: 240_000 }, () => {
  const directory = temporaryDirectory();
  it('of every format', () => {
    const names = allFormats('little').map(({ name }) => name.split('-', 1)[0]!.toLowerCase());
    const covered = Object.keys(shapes).map((shape) => shape.split(/[, ]/, 1)[0]!.toLowerCase());
    expect(new Set(covered)).toEqual(new Set(names));
  });

  describe.each(Object.entries(shapes))('%s', (name, { n, write }) => {
    const place = join(directory, name.replaceAll(/\W/g, '-'));
    mkdirSync(place);
    const once = write(join(place, 'once'), n);
    const fourTimes = write(join(place, 'four-times'), 4 * n);
    const format = name.split(',', 1)[0]!.toLowerCase();
    it.each(Object.entries({ ...jobs, ...ownJobs[format] }))('%s', async (_, job) => {
      const times = await growth(
        () => job(once),
        () => job(fourTimes),
      );
      expect(times).toBeLessThan(MOST_GROWTH);
    });
  });

  it('of the recovery of many traces in one directory', () => {
    const bytes = Buffer.concat([encodeEpoch(1n), encodeEvent(someEvent({}))]);
    const write = (name: string, n: number): string => {
      const place = join(directory, name);
      mkdirSync(place);
      for (let i = 0; i < n; i++) writeFileSync(join(place, `${i}.heph`), bytes);
      return place;
    };
    const milliseconds = (path: string): number => {
      const from = performance.now();
      const { status, stdout } = tracewright('recover', path);
      expect(status).toBe(0);
      expect(stdout).toContain('nothing to recover (Heph)');
      return performance.now() - from;
    };
    const [once, sixTimes] = [write('some', 700), write('more', 4200)];
    const least = (path: string): number => Math.min(milliseconds(path), milliseconds(path));
    expect(least(sixTimes) / least(once)).toBeLessThan(MOST_GROWTH);
  });

  it.each([
    ['', 0],
    // It cannot lie there: what is in the file is known by its bytes.
    [', each with a wrong note of what it was writing', 1],
  ])('of the recovery of many rings of one file%s', async (_, noted) => {
    const killed = mkdtempSync(join(directory, 'killed-'));
    const file = join(killed, 'trace.heph');
    await runFixture('core/killed-heph.mjs', { input: { file, count: 100 } });
    const ring = readdirSync(killed).find((name) => name.endsWith('.ring'))!;
    const bytes = readFileSync(join(killed, ring));
    bytes.writeBigUInt64LE(BigInt(noted), core.control.claimOffset);
    /** Four places of `n` rings each, one for each run. */
    const recovery = (n: number): (() => void) => {
      const places = Array.from({ length: 4 }, () => mkdtempSync(join(directory, 'rings-')));
      for (const place of places) {
        copyFileSync(file, join(place, 'trace.heph'));
        for (let i = 0; i < n; i++) writeFileSync(join(place, `.trace.heph.${i}-0-0.ring`), bytes);
      }
      return () => {
        const { streams, faults } = recoverHeph(join(places.pop()!, 'trace.heph'));
        expect([streams.length, faults.length]).toEqual([n, 0]);
      };
    };
    expect(await growth(recovery(100), recovery(400))).toBeLessThan(MOST_GROWTH);
  });

  it('of many traces with the same process id', async () => {
    const write = (name: string, n: number): string => {
      const place = join(directory, name);
      mkdirSync(place);
      for (let i = 0; i < n; i++) writeFileSync(join(place, `${i}.kernel.txt`), 's 1 1\nc\n');
      return place;
    };
    const [once, fourTimes] = [write('few', 200), write('many', 800)];
    const convert = jobs['convert to perfetto']!;
    const times = await growth(
      () => convert(once),
      () => convert(fourTimes),
    );
    expect(times).toBeLessThan(MOST_GROWTH);
  });
});
