import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import type { LookIndex } from '../../../src/look/index/look-index.js';
import { boxesOf } from '../../../src/look/server/boxes.js';
import { Recording } from '../../../src/look/server/recording.js';
import type { BoxColumns } from '../../../src/look/wire/answers.js';
import { encodeEpoch } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { encodeSpan, randomNumbers } from '../../export/span-file.js';

const directory = temporaryDirectory();
/** Enough for a pyramid. */
const SPANS = 60_000;
const STEP = 1_000_000;
const FAILED = 1n | (2n << 11n);
const below = randomNumbers(7);
/** One of 150 fails, and all of a time in which the database was away. */
const spans = Array.from({ length: SPANS }, (_, at) => {
  const start = at * STEP;
  const isLong = below(40) === 0;
  const failed = below(150) === 0 || (at > 20_000 && at < 20_300);
  return { start, end: start + (isLong ? 900_000 : 50_000 + below(100_000)), failed };
});

let index: LookIndex;
let recording: Recording;

beforeAll(async () => {
  const records = spans.map(({ start, end, failed }, at) =>
    encodeSpan({
      id: BigInt(at + 1),
      name: 'GET',
      start: BigInt(start),
      end: BigInt(end),
      ...(failed && { flags: FAILED }),
    }),
  );
  const path = writeTrace(directory, 'failed.heph', encodeEpoch(10n ** 18n), ...records);
  index = await openLookIndex([path], { cache: false });
  recording = new Recording(index, false);
});

afterAll(() => {
  index.close();
});

function boxes(from: number, to: number, width: number): BoxColumns {
  const screen = { width, lanes: 20 };
  return boxesOf(recording, { from, to, width, tracks: [0], budget: 1800, screen });
}

describe('boxes of a window', () => {
  it.each([
    ['of all', 0, SPANS * STEP, 1000],
    ['of all in few pixels', 0, SPANS * STEP, 333],
    ['of a tenth', 17_000 * STEP, 23_000 * STEP, 800],
    ['in which each row has pixels', 20_200 * STEP, 20_400 * STEP, 1200],
  ])('say how many of their rows failed, and in which pixels: %s', (_, from, to, width) => {
    const pixel = (to - from) / width;
    const shown = boxes(from, to, width);
    const within = spans.filter(({ start, end }) => start < to && end > from);
    const sum = (counts: Uint32Array): number => counts.reduce((all, each) => all + each, 0);
    expect(sum(shown.count)).toBeGreaterThanOrEqual(within.length);
    // A pyramid's first bucket may begin before the window.
    const slack = from === 0 ? 0 : 2;
    expect(
      Math.abs(sum(shown.failed) - within.filter(({ failed }) => failed).length),
    ).toBeLessThanOrEqual(slack);

    const pixelOf = (time: number): number => Math.floor((time - from) / pixel);
    const marked = new Set<number>();
    for (const [i, box] of shown.failedBox.entries()) {
      expect(shown.count[box]).toBeGreaterThan(1);
      expect(shown.failed[box]).toBeGreaterThan(0);
      expect(shown.failedFrom[i]).toBeGreaterThanOrEqual(shown.start[box]! - pixel);
      expect(shown.failedTo[i]).toBeLessThanOrEqual(shown.end[box]! + pixel);
      const last = Math.ceil((shown.failedTo[i]! - from) / pixel - 0.01);
      for (let at = pixelOf(shown.failedFrom[i]! + 1); at < last; at++) marked.add(at);
    }
    for (const [box, count] of shown.count.entries()) {
      if (count === 1 && shown.failed[box] === 1) marked.add(pixelOf(shown.start[box]!));
    }
    const wanted = new Set(
      within.filter(({ failed }) => failed).map(({ start }) => pixelOf(start)),
    );
    // Buckets of the pyramid are narrower than a pixel, and a mark may lie in the one before.
    const near = (set: Set<number>, at: number): boolean =>
      [-1, 0, 1].some((off) => set.has(at + off));
    expect([...wanted].filter((at) => at >= 0 && !near(marked, at))).toEqual([]);
    expect([...marked].filter((at) => !near(wanted, at))).toEqual([]);
    expect(wanted.size).toBeGreaterThan(10);
  });
});
