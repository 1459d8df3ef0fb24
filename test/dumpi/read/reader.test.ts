import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calls } from '../../../src/dumpi/calls.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import type { CallRecord, CallTimes } from '../../../src/dumpi/read/call-record.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { anyArguments, i64 } from '../any-arguments.js';
import { golden, goldenFiles } from '../golden-traces.js';
import { builtTrace, writeBuilt } from '../trace-building.js';
import type { BuiltCall, RawClock } from '../trace-building.js';

const directory = temporaryDirectory();

const rawClock: fc.Arbitrary<RawClock> = fc.tuple(fc.nat(0x3fff), fc.nat(999_999_999));
const rawTimes = fc.tuple(rawClock, rawClock);
const MASKS = [0, 0x40, 0x4f, 0x43, 0x48, 0xcf, 0xc1, 0x04, 0x08, 0x02, 0xff & ~0x30];

function builtTimes(times: CallTimes | undefined, bias: number): [RawClock, RawClock] | undefined {
  if (times === undefined) return undefined;
  const raw = ({ seconds, nanoseconds }: CallTimes['start']): RawClock => [
    (seconds - bias) & 0xffff,
    nanoseconds,
  ];
  return [raw(times.start), raw(times.stop)];
}

/** A call as it was read, so that it can be laid down again. */
function rebuilt(call: CallRecord, cpuBias: number, wallBias: number): BuiltCall {
  const { name, mask, thread, cpu, wall, counters, fields } = call;
  return {
    name,
    mask,
    thread,
    cpu: builtTimes(cpu, cpuBias),
    wall: builtTimes(wall, wallBias),
    counters: counters?.map(({ enter, exit }) => [enter, exit] as const),
    fields: { ...fields },
  };
}

describe.each(calls)('$name', (call) => {
  it('gives back what went in', () => {
    const path = `${directory}/${call.name}.bin`;
    fc.assert(
      fc.property(
        anyArguments(call),
        fc.constantFrom(...MASKS),
        fc.record({ thread: fc.nat(0xffff), cpu: rawTimes, wall: rawTimes }),
        fc.array(fc.tuple(i64, i64), { maxLength: 3 }),
        (fields, mask, head, counters) => {
          writeBuilt(directory, `${call.name}.bin`, {
            calls: [{ name: call.name, mask, ...head, counters, fields }],
            counterLabels: counters.map((_, i) => `counter ${i}`),
          });
          const [record, ...more] = [...readCalls(path)] as [CallRecord, ...CallRecord[]];
          expect(more).toEqual([]);
          expect(record.name).toBe(call.name);
          expect(record.mask).toBe(mask);
          expect(record.thread).toBe(mask & 0x40 ? head.thread : undefined);
          expect(record.counters?.map(({ enter, exit }) => [enter, exit])).toEqual(
            mask & 0x80 ? counters : undefined,
          );
          const expected = { ...fields };
          for (const { name, encoding, dimensions } of call.fields) {
            if (encoding !== 'status' || (mask & 3) !== 0) continue;
            expected[name] = dimensions === 0 ? null : [];
          }
          expect(record.fields).toEqual(expected);
          const again = rebuilt(record, 0, 0);
          if (mask & 0x04) expect(again.cpu).toEqual(head.cpu);
          if (mask & 0x08) expect(again.wall).toEqual(head.wall);
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe('seconds, of which a record has 16 bits', () => {
  const low = (seconds: number): RawClock => [seconds & 0xffff, 0];

  /** The seconds of the calls' ends and starts, as they are read. */
  function readSeconds(
    bias: number,
    times: readonly (readonly [start: number, stop: number])[],
  ): [number, number][] {
    const path = writeBuilt(directory, 'seconds.bin', {
      wallBias: bias,
      calls: times.map(([start, stop]) => ({
        name: 'MPI_Wtime',
        mask: 0x48,
        wall: [low(start), low(stop)],
        fields: {},
      })),
    });
    return [...readCalls(path)].map(({ wall }) => [wall!.start.seconds, wall!.stop.seconds]);
  }

  it('are carried past 65,535', () => {
    const times: [number, number][] = [
      [65_530, 65_534],
      [65_535, 65_537],
      [65_536, 65_536],
      // As when another thread ends its call a little earlier.
      [65_530, 65_535],
      [100_000, 131_010],
      [131_000, 131_072],
      [140_000, 196_000],
    ];
    expect(readSeconds(0, times)).toEqual(times);
    expect(readSeconds(-70_000, times)).toEqual(
      times.map(([start, stop]) => [start - 70_000, stop - 70_000]),
    );
  });

  it('are told by the annotations of our own writer, however far calls lie apart', () => {
    const key = 4096n;
    const half: RawClock = [32_768, 0];
    const start: RawClock = [0, 0];
    const mark = (name: 'Function_enter' | 'Function_exit', at: RawClock): BuiltCall => ({
      name,
      mask: 0x48,
      wall: [at, at],
      fields: { fn: key },
    });
    const late = fc.constantFrom(0, 1, 60, 61, 65_474, 65_475, 65_476, 65_480, 65_534, 65_535);
    const ahead = fc.oneof(late, fc.nat(65_535), fc.nat(200_000));
    const took = fc.oneof(late, fc.nat(65_535));
    fc.assert(
      fc.property(fc.array(fc.tuple(ahead, took), { minLength: 1, maxLength: 30 }), (steps) => {
        const times: [number, number][] = [];
        const calls: BuiltCall[] = [];
        let turns = 0;
        let last = 0;
        for (const [further, length] of steps) {
          last += further;
          for (; last >= (turns + 1) * 65_536; turns++) {
            calls.push(mark('Function_enter', half), mark('Function_exit', start));
          }
          // Of a call that began in an earlier turn the writer moves the start to 65,400 s before.
          const began = Math.max(last - length, 0);
          const from = began < turns * 65_536 ? Math.max(began, last - 65_400) : began;
          times.push([from, last]);
          calls.push({
            name: 'MPI_Wtime',
            mask: 0x48,
            wall: [low(from), low(last)],
            fields: {},
          });
        }
        const path = writeBuilt(directory, 'turns.bin', {
          wallBias: -3,
          calls,
          functionNames: [
            {
              address: key,
              name: 'ANNOTATION: the seconds of the wall clock begin again: add 65536 from here',
            },
          ],
        });
        const read = [...readCalls(path)].filter(({ name }) => name === 'MPI_Wtime');
        expect(read.map(({ wall }) => [wall!.start.seconds + 3, wall!.stop.seconds + 3])).toEqual(
          times,
        );
      }),
    );
  });

  it('of the start of a call that took nearly all of them', () => {
    const times: [number, number][] = [
      [0, 65_476],
      [0, 65_530],
      [1, 65_535],
    ];
    expect(readSeconds(0, times)).toEqual(times);
  });

  it('are carried for any steps that the clock can tell', () => {
    const step = fc.record({
      // From end to end: another thread may have ended up to a minute earlier.
      ahead: fc.oneof(fc.integer({ min: -60, max: 60 }), fc.nat(65_475)),
      took: fc.oneof(fc.nat(60), fc.nat(65_475)),
    });
    fc.assert(
      fc.property(fc.nat(65_535), fc.array(step, { maxLength: 40 }), (first, steps) => {
        const times: [number, number][] = [[first, first]];
        let last = first;
        for (const { ahead, took } of steps) {
          last = Math.max(last + ahead, 0);
          times.push([Math.max(last - took, 0), last]);
        }
        expect(readSeconds(0, times)).toEqual(times);
      }),
    );
  });
});

describe('golden traces', () => {
  it.each(goldenFiles())('%s is the same bytes when laid down again', (name) => {
    const bytes = readFileSync(golden(name));
    const sections = readSections(golden(name));
    const cpuBias = bytes.readInt32BE(sections.index.body);
    const wallBias = bytes.readInt32BE(sections.index.body + 4);
    const built = builtTrace({
      cpuBias,
      wallBias,
      calls: [...readCalls(golden(name))].map((call) => rebuilt(call, cpuBias, wallBias)),
      header: sections.header!,
      called: sections.footer!.calls,
      ignored: sections.footer!.ignored,
      keyvals: sections.keyvals,
      counterLabels: sections.counterLabels!,
      datatypeSizes: sections.datatypeSizes!,
      functionNames: sections.functionNames,
    });
    expect(built.equals(bytes)).toBe(true);
  });
});
