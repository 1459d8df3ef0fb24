import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rowEvents } from './row-events.js';
import { MASK_WALL_TIME } from '../../src/dumpi/layout.js';
import { nanosecondsOf } from '../../src/dumpi/read/dump.js';
import { readCalls } from '../../src/dumpi/read/reader.js';
import { readKernelRows } from '../../src/laplace/read/rows.js';
import type { LookIndex } from '../../src/look/index/look-index.js';
import { openLookIndex } from '../../src/look/index/open-look-index.js';
import { boxesOf } from '../../src/look/server/boxes.js';
import { Recording } from '../../src/look/server/recording.js';
import { RowColumns } from '../../src/rows/row-columns.js';
import { writeBuilt } from '../dumpi/trace-building.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const directory = temporaryDirectory();

/** Start and end of each box of the page, in ns of the trace's clock. */
function shownTimes(index: LookIndex): [bigint, bigint][] {
  const { start, end } = boxesOf(new Recording(index, false), {
    from: 0,
    to: index.length,
    width: index.length,
    tracks: [0],
    budget: 1000,
    screen: { width: 1000, lanes: 8 },
  });
  return Array.from(start, (time, i) => [
    index.epoch + BigInt(time),
    index.epoch + BigInt(end[i]!),
  ]);
}

it('starts of MPI calls are those of the trace, in the index and in what the page shows', async () => {
  // In 2011: doubles of nanoseconds since 1970 are 256 ns apart.
  const call = { name: 'MPI_Wtime', mask: MASK_WALL_TIME, fields: {} } as const;
  const path = writeBuilt(directory, 'run-0000.bin', {
    wallBias: 1_296_777_956,
    calls: [1, 130, 259, 391].map((at) => ({
      ...call,
      wall: [
        [0, 737_669_000 + at],
        [0, 737_669_000 + at + 51],
      ],
    })),
  });
  const times = Array.from(readCalls(path), ({ wall }) => [
    nanosecondsOf(wall!.start),
    nanosecondsOf(wall!.stop),
  ]);
  const index = await openLookIndex([path], { cache: false });
  const [part] = index.parts;
  expect(Array.from(part!.start, (start) => index.epoch + BigInt(start + part!.offset))).toEqual(
    times.map(([start]) => start),
  );
  expect(shownTimes(index)).toEqual(times);
  index.close();
});

it('cycles of Laplace are exact up to 2^64', async () => {
  const path = join(directory, 'late.kernel.txt');
  const hex = (time: bigint): string => time.toString(16);
  const last = 2n ** 64n - 1n;
  writeFileSync(path, `s ${hex(last - 300n)} 7\ns ${hex(last - 100n)} 8\ns ${hex(last)} 7\nc\n`);
  const index = await openLookIndex([path], { cache: false });
  expect(index.sources[0]!.format).toBe('laplace-kernel');
  expect(index.epoch).toBe(last - 300n);
  expect([...index.parts[0]!.start]).toEqual([0, 200, 300]);
  index.close();
  const early = join(directory, 'early.kernel.txt');
  writeFileSync(early, `s 1 7\ns ${hex(last)} 8\nc\n`);
  const [batch] = readKernelRows(early, { zero: 0n, batchRows: 8 }).batches();
  expect([batch!.rows.startOf(0), batch!.rows.durationOf(0)]).toEqual([1n, last - 1n]);
  expect(batch!.rows.startOf(1)).toBe(last);
  const events = [...rowEvents(readKernelRows, early, { zero: last })];
  expect(events.filter(({ ph }) => ph === 'X').map(({ ts }) => ts)).toEqual([-(2 ** 64) / 1000, 0]);
});

it('times before zero and beyond doubles are exact, also after the columns have grown', () => {
  const rows = new RowColumns(1);
  const far = [-5n, 2n ** 62n + 1n, -(2n ** 62n) - 3n];
  for (const start of far) rows.setTimes(rows.add(), start, start + 2n ** 61n + 1n);
  rows.setTimes(rows.add(), 7n, 3n);
  expect(far.map((_, row) => rows.startOf(row))).toEqual(far);
  expect(far.map((_, row) => rows.durationOf(row))).toEqual(far.map(() => 2n ** 61n + 1n));
  expect([rows.startOf(3), rows.durationOf(3)]).toEqual([7n, 0n]);
});
