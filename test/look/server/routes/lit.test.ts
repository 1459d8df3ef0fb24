import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import type { LookIndex } from '../../../../src/look/index/look-index.js';
import { boxesOf } from '../../../../src/look/server/boxes.js';
import { Query } from '../../../../src/look/server/route.js';
import { Recording } from '../../../../src/look/server/recording.js';
import { litRoute } from '../../../../src/look/server/routes/time-line.js';
import type { LitColumns } from '../../../../src/look/wire/answers.js';
import { encodeSpan, randomNumbers } from '../../../export/span-file.js';
import { encodeEpoch } from '../../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../../heph/temporary-file.js';

/** Enough for a pyramid, and for more matches than the page gets one by one. */
const SPANS = 60_000;
const STEP = 1_000_000;
const below = randomNumbers(5);
/** Half of them match in the first half of the time, one of a hundred in the second. */
const spans = Array.from({ length: SPANS }, (_, at) => ({
  start: at * STEP,
  end: at * STEP + 50_000 + below(100_000),
  matches: below(at < SPANS / 2 ? 2 : 100) === 0,
}));
let index: LookIndex;
let recording: Recording;

beforeAll(async () => {
  const records = spans.map(({ start, end, matches }, at) =>
    encodeSpan({
      id: BigInt(at + 1),
      name: matches ? 'GET /wanted' : 'GET /other',
      start: BigInt(start),
      end: BigInt(end),
    }),
  );
  const path = writeTrace(temporaryDirectory(), 'a.heph', encodeEpoch(10n ** 18n), ...records);
  index = await openLookIndex([path], { cache: false });
  recording = new Recording(index, false);
});

afterAll(() => {
  index.close();
});

async function lit(from: number, to: number, width: number): Promise<LitColumns> {
  const fields = { from, to, width, tracks: 0, where: 'name="GET /wanted"' };
  const query = new Query(new URLSearchParams(JSON.parse(JSON.stringify(fields)) as never));
  const signal = new AbortController().signal;
  const answer = await litRoute.answer({ recording, query, signal, body: undefined });
  return (answer as unknown as { columns: LitColumns }).columns;
}

it.each([
  ['of all', 0, SPANS * STEP, 1000],
  ['of a tenth', 27_000 * STEP, 33_000 * STEP, 800],
  ['in which each row has pixels', 20_200 * STEP, 20_400 * STEP, 1200],
])('a window says in which pixels how many matches begin: %s', async (_, from, to, width) => {
  const { time, count } = await lit(from, to, width);
  const pixel = (to - from) / width;
  const counts = new Map<number, number>();
  for (const { start, end, matches } of spans) {
    if (!matches || start >= to || end <= from) continue;
    const place = Math.max(0, Math.floor((start - from) / pixel));
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  expect([...time.keys()].map((i) => [Math.floor((time[i]! - from) / pixel), count[i]])).toEqual(
    [...counts].sort(([a], [b]) => a - b),
  );
});

it('the boxes of a window have the share that matches', async () => {
  const [from, to, width] = [0, SPANS * STEP, 1000];
  const { time, count } = await lit(from, to, width);
  const screen = { width, lanes: 20 };
  const boxes = boxesOf(recording, { from, to, width, tracks: [0], budget: 1800, screen });
  for (const [box, start] of boxes.start.entries()) {
    const end = boxes.end[box]!;
    const found = count.filter((_, i) => time[i]! >= start && time[i]! < end);
    const share = found.reduce((sum, each) => sum + each, 0) / boxes.count[box]!;
    // A box on the border has some of both.
    if (start < 0.95 * (to / 2) && boxes.count[box]! > 30) expect(share).toBeCloseTo(0.5, 0);
    if (start > to / 2) expect(share).toBeLessThan(0.1);
  }
});
