import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calls } from '../../src/dumpi/calls.js';
import { checkTrace } from '../../src/dumpi/read/check.js';
import { dumpi2ascii } from '../../src/dumpi/read/dumpi2ascii.js';
import { openRank } from '../../src/dumpi/write/rank.js';
import { readCalls } from '../../src/dumpi/read/reader.js';
import { recoverTrace } from '../../src/dumpi/read/recover.js';
import { runFixture } from '../fixtures/run-fixture.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { anyArguments, i64 } from './any-arguments.js';
import { writeBuilt } from './trace-building.js';
import { asRead } from './written-calls.js';
import type { BuiltCall, BuiltTrace, RawClock } from './trace-building.js';

process.env['TZ'] = 'UTC';

/** The path of the format's own reader, dumpi2ascii, which is built from sst-dumpi's repository. */
const reader = process.env['DUMPI2ASCII'];
const directory = temporaryDirectory();

const rawClock: fc.Arbitrary<RawClock> = fc.tuple(fc.nat(0xffff), fc.nat(999_999_999));
const rawTimes = fc.tuple(rawClock, rawClock);
const MASKS = [0, 0x40, 0x4f, 0x43, 0x48, 0xcf, 0xc1, 0x04, 0x08];

/** Lines of the two readers side by side, from the first that differs. */
function compare(path: string): void {
  const { status, stdout, stderr } = spawnSync(reader!, ['-a', path], {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  expect({ status, stderr: stderr.slice(0, 500) }).toEqual({ status: 0, stderr: '' });
  const theirs = stdout.split('\n').slice(0, -1);
  const ours = [...dumpi2ascii(path)].join('\n').split('\n');
  const at = ours.findIndex((line, i) => line !== theirs[i]);
  if (at !== -1) expect(ours.slice(at - 1, at + 3)).toEqual(theirs.slice(at - 1, at + 3));
  expect(ours.length).toBe(theirs.length);
}

describe.skipIf(reader === undefined)('the format’s own reader (set DUMPI2ASCII)', () => {
  it('prints what we print for every call with random arguments', () => {
    const everyCall = fc.tuple(
      ...calls.map((call) =>
        fc.record({
          name: fc.constant(call.name),
          mask: fc.constantFrom(...MASKS),
          thread: fc.nat(0xffff),
          cpu: rawTimes,
          wall: rawTimes,
          counters: fc.tuple(fc.tuple(i64, i64), fc.tuple(i64, i64)),
          fields: anyArguments(call),
        }),
      ),
    ) as fc.Arbitrary<BuiltCall[]>;
    fc.assert(
      fc.property(everyCall, fc.nat(0x7fff_0000), fc.nat(1000), (all, wallBias, cpuBias) => {
        // The reader takes an MPI_Send behind MPI_Finalize for the end.
        const trace: BuiltTrace = {
          calls: all,
          wallBias,
          cpuBias,
          counterLabels: ['PAPI_TOT_INS', 'PAPI_L1_DCM'],
          header: { meshCoordinates: [1, -2, 3], meshSizes: [4, 5, 6], hostname: 'hôte' },
          keyvals: [['key', 'value']],
          datatypeSizes: Array.from({ length: 40 }, (_, i) => i - 1),
          functionNames: [{ address: 0xffff_ffff_ffff_ffffn, name: 'main' }],
        };
        const path = writeBuilt(directory, 'every.bin', trace);
        compare(path);
        expect([...checkTrace(path)].filter(({ severity }) => severity === 'error')).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it('prints what we print for every call that the writer has recorded', () => {
    const mpi = calls.filter(({ name }) => !name.startsWith('Function_'));
    const everyCall = fc.tuple(...mpi.map((call) => anyArguments(call)));
    const typed = (values: unknown): unknown =>
      Array.isArray(values) && values.length >= 64 && typeof values[0] === 'number'
        ? Int32Array.from(values as number[])
        : values;
    fc.assert(
      fc.property(everyCall, fc.constantFrom('full', 'wall', 'none'), (all, timestamps) => {
        const rank = openRank({
          directory: mkdtempSync(join(directory, 'written-')),
          rank: 0,
          size: 2,
          config: { timestamps },
        });
        const written: [name: string, fields: unknown][] = [];
        // The first of a kind is recorded by walking the table, the others by what is compiled of it.
        for (const given of ['plain', 'plain', 'typed'] as const) {
          for (const [i, args] of all.entries()) {
            const { name } = mpi[i]!;
            const values =
              given === 'plain'
                ? args
                : Object.fromEntries(Object.entries(args).map(([key, v]) => [key, typed(v)]));
            rank.log(name as 'MPI_Send', values as never);
            written.push([name, asRead(mpi[i]!, args)]);
          }
        }
        rank.functionEnter('main');
        rank.annotate('done');
        rank.functionExit('main');
        rank.close();
        const read = [...readCalls(rank.path)].filter(({ name }) => !name.startsWith('Function_'));
        expect(read.length).toBe(written.length);
        // One by one: what differs of thousands of calls would take a while to print.
        for (const [i, { name, fields }] of read.entries()) {
          expect([name, fields]).toEqual(written[i]);
        }
        compare(rank.path);
      }),
      // Arguments of all calls at once take hours to shrink.
      { numRuns: 4, endOnFailure: true },
    );
  });

  it('reads a rank to its end whose process was killed', async () => {
    const input = { directory: mkdtempSync(join(directory, 'killed-')), count: 3000, end: 'kill' };
    const { stdout } = await runFixture('dumpi-killed.mjs', { input });
    const { path } = JSON.parse(stdout) as { path: string };
    recoverTrace(path);
    compare(path);
    expect([...readCalls(path)].filter(({ name }) => name === 'MPI_Send')).toHaveLength(3000);
  });

  it('prints what we print at the edges', () => {
    const call = (name: BuiltCall['name'], fields: BuiltCall['fields']): BuiltCall => ({
      name,
      mask: 0x4b,
      fields,
    });
    const path = writeBuilt(directory, 'edges.bin', {
      calls: [
        call('MPI_Send', { count: 0, datatype: -1, dest: -2, tag: -1, comm: -32_768 }),
        call('MPI_Recv', { count: 0, datatype: 28, source: -1, tag: -1, comm: 3, status: null }),
        call('MPI_Recv', { count: 0, datatype: 27, source: -2, tag: 0, comm: 4, status: null }),
        call('MPI_Init', { argv: [] }),
        call('MPI_Init', { argv: ['', 'b'] }),
        call('MPI_Waitall', { count: 2, requests: null, statuses: null }),
        call('MPI_Waitall', { count: -1, requests: null, statuses: null }),
        call('MPI_Startall', { count: 0, requests: [] }),
        call('MPI_Type_struct', {
          count: 0,
          lengths: null,
          indices: null,
          oldtypes: null,
          newtype: 28,
        }),
        call('MPI_Type_hindexed', {
          count: 2,
          lengths: [1, 2],
          indices: null,
          oldtype: 9,
          newtype: 28,
        }),
        call('MPI_Group_range_incl', { group: 0, count: 0, ranges: null, newgroup: 3 }),
        call('MPI_Win_fence', { assertion: 31, win: 0 }),
        call('MPI_Win_fence', { assertion: 32, win: 1 }),
        call('MPI_Win_fence', { assertion: 255, win: -1 }),
        call('Function_enter', { fn: -1n }),
        call('Function_exit', { fn: 1n }),
        call('MPI_Finalize', {}),
        call('MPI_Send', { count: 0, datatype: -1, dest: -2, tag: -1, comm: -32_768 }),
        call('MPI_Wtime', {}),
      ],
      header: { startTime: 0n, version: [1, 0, 0] },
      wallBias: -5,
      functionNames: [
        { address: 2n ** 64n - 1n, name: 'first' },
        { address: 2n ** 64n - 1n, name: 'second' },
      ],
      called: Array.from({ length: 291 }, (_, label) => 2 ** 32 - 1 - label),
    });
    compare(path);
  });
});
