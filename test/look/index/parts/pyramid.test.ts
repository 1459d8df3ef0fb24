import { expect, test } from 'vitest';
import {
  buildPyramid,
  keyOf,
  laneOfKey,
  trackOfKey,
} from '../../../../src/look/index/parts/pyramid.js';
import type { PyramidRows } from '../../../../src/look/index/parts/pyramid.js';
import { Lanes } from '../../../../src/look/index/sources/lanes.js';
import { orderRows } from '../../../../src/look/index/parts/order-rows.js';

/** Numbers that are the same in every run. */
function random(): () => number {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Flags of a row that failed. */
const ERROR = 2 << 3;

function rowsOf(count: number, durationOf: (next: () => number) => number): PyramidRows {
  const next = random();
  const start = Float64Array.from({ length: count }, () => Math.floor(next() * 1e10)).sort();
  const duration = Float64Array.from({ length: count }, () => Math.floor(durationOf(next)));
  const track = Uint32Array.from({ length: count }, () => Math.floor(next() * 3));
  const lanes = [new Lanes(), new Lanes(), new Lanes()];
  const lane = Uint16Array.from(start, (from, row) =>
    lanes[track[row]!]!.take(from, from + duration[row]!, 0, 0),
  );
  const flags = Uint8Array.from(start, () => (next() < 0.2 ? ERROR : 0));
  return { start, duration, track, lane, flags };
}

test.each([
  ['short rows', (next: () => number) => next() * 1000],
  ['rows of all lengths', (next: () => number) => 10 ** (next() * 8)],
  ['instants', () => 0],
])('the cells of each level say what the rows say: %s', (_, durationOf) => {
  const rows = rowsOf(60_000, durationOf);
  const { start, duration, track, lane, flags } = rows;
  const pyramid = buildPyramid(rows)!;
  const { first, ends, bucket, key, count, failed, row, wide } = pyramid;
  expect(ends[0]! + wide.length).toBeLessThanOrEqual(60_000 / 8 + 1);
  expect([...wide]).toEqual([...duration.keys()].filter((each) => duration[each]! >= 2 ** first));
  for (const [level, end] of ends.entries()) {
    const width = 2 ** (first + level);
    const wanted = new Map<string, { count: number; failed: number; longest: number }>();
    for (let each = 0; each < start.length; each++) {
      if (duration[each]! >= width) continue;
      const name = `${keyOf(track[each]!, lane[each]!)} ${Math.floor(start[each]! / width)}`;
      const cell = wanted.get(name) ?? { count: 0, failed: 0, longest: -1 };
      cell.count++;
      if (flags[each] === ERROR) cell.failed++;
      cell.longest = Math.max(cell.longest, duration[each]!);
      wanted.set(name, cell);
    }
    const found = new Map<string, { count: number; failed: number; longest: number }>();
    let before = -Infinity;
    for (let cell = level === 0 ? 0 : ends[level - 1]!; cell < end; cell++) {
      expect(bucket[cell]!).toBeGreaterThanOrEqual(before);
      before = bucket[cell]!;
      const longest = duration[row[cell]!]!;
      found.set(`${key[cell]!} ${bucket[cell]!}`, {
        count: count[cell]!,
        failed: failed[cell]!,
        longest,
      });
    }
    expect(found).toEqual(wanted);
  }
});

test('a key holds the last track and the last lane', () => {
  const key = keyOf(4095, 65_535);
  expect([trackOfKey(key), laneOfKey(key)]).toEqual([4095, 65_535]);
});

test('as many lanes as rows overlap, and no more than there are', () => {
  const lanes = new Lanes();
  const taken = Array.from({ length: 70_000 }, (_, i) => lanes.take(i, 1e9, 0, 0));
  expect(taken.slice(0, 65_536)).toEqual(Array.from({ length: 65_536 }, (_, i) => i));
  expect(new Set(taken.slice(65_536))).toEqual(new Set([65_535]));
  expect(lanes.take(1e9, 2e9, 7, 0)).toBe(7);
  expect(lanes.take(1e9, 2e9, 7, 0)).toBe(8);
  expect(lanes.take(1e9, 2e9, 0, 0)).toBe(0);
});

test('rows are ordered by start, the longest first, also where starts are far apart or equal', () => {
  const next = random();
  const starts: (() => number)[] = [
    () => Math.floor(next() * 100),
    () => next() * 2 ** 63 - 2 ** 62,
    () => (next() < 0.5 ? next() : 2 ** 60 + Math.floor(next() * 1000) * 512),
    () => 5,
  ];
  for (const startOf of starts) {
    const start = Float64Array.from({ length: 20_000 }, startOf);
    const duration = Float64Array.from(start, () => Math.floor(next() * 3));
    const order = orderRows(start, duration, start.length);
    const wanted = [...start.keys()].sort(
      (a, b) => start[a]! - start[b]! || duration[b]! - duration[a]! || b - a,
    );
    expect([...order]).toEqual(wanted);
  }
});
