import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calls } from '../../src/dumpi/calls.js';
import { readCalls } from '../../src/dumpi/reader.js';
import type { CallRecord, CallTimes } from '../../src/dumpi/reader.js';
import { readSections } from '../../src/dumpi/sections.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { anyArguments, i64 } from './any-arguments.js';
import { golden, goldenFiles, haveGolden } from './golden-traces.js';
import { builtTrace, writeBuilt } from './trace-building.js';
import type { BuiltCall, RawClock } from './trace-building.js';

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

describe.skipIf(!haveGolden)('golden traces (not at hand: ../shared/golden/dumpi)', () => {
  it.each(goldenFiles('.bin'))('%s is the same bytes when laid down again', (name) => {
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
