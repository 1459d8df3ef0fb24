import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { FOUND_STRETCHES, MOST_FOUND } from '../../../src/look/wire/view-answers.js';
import type { FindLine } from '../../../src/look/wire/view-answers.js';
import { encodeEpoch } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { encodeSpan } from '../../export/span-file.js';
import { Served } from './served.js';

const directory = temporaryDirectory();
/** Enough for a pyramid, and for more matches than the page gets one by one. */
const SPANS = 60_000;
const EACH = 1_000_000n;

/** A trace of so many spans of one length, which begin one after the other. @returns its path. */
function evenLoad(file: string, count: number): string {
  const spans = Array.from({ length: count }, (_, at) => {
    const start = BigInt(at) * EACH;
    return encodeSpan({ id: BigInt(at + 1), name: 'GET', start, end: start + EACH / 10n });
  });
  return writeTrace(directory, file, encodeEpoch(1_700_000_000_000_000_000n), ...spans);
}

describe('the server of the page, asked about an even load', () => {
  let served: Served;
  let path: string;

  beforeAll(async () => {
    path = evenLoad('even.heph', SPANS);
    served = await Served.of(path);
  });

  afterAll(() => served.close());

  it.each([300, 777, 1000, 1234])('shows no comb in a strip of %d pixels', async (width) => {
    const index = await openLookIndex([path], { cache: false });
    const rows = index.activity(width, [0]);
    index.close();
    const even = SPANS / width;
    // A bucket has eight spans or nine.
    expect(Math.min(...rows)).toBeGreaterThan(0.85 * even);
    expect(Math.max(...rows)).toBeLessThan(1.15 * even);
    expect(rows.reduce((sum, each) => sum + each)).toBeCloseTo(SPANS, 3);
  });

  it.each([1, 1.5, 2.5, 7.7])('shows no comb where %d spans lie in a pixel', async (each) => {
    const width = 1000;
    const few = await openLookIndex([evenLoad('few.heph', each * width)], { cache: false });
    const rows = few.activity(width, [0]);
    few.close();
    expect(Math.min(...rows)).toBeGreaterThan(0.85 * each);
    expect(Math.max(...rows)).toBeLessThan(1.15 * each);
    // Half of the first and of the last one lie beyond the edges.
    expect(Math.abs(rows.reduce((sum, one) => sum + one) - each * width)).toBeLessThan(each + 1);
  });

  it('marks matches up to the end, beyond those that it names', async () => {
    const lines = (await served.text('/data/find', { where: 'GET' }))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as FindLine);
    expect(lines.at(-1)).toMatchObject({ count: SPANS, done: true });
    expect(lines.flatMap(({ rows }) => rows)).toHaveLength(MOST_FOUND);
    const stretches = new Set(lines.flatMap((line) => line.stretches));
    expect(stretches.size).toBe(FOUND_STRETCHES);
  });

  it('says how far a search has come, also where nothing is found', async () => {
    const index = await openLookIndex([path], { cache: false });
    // Each turn of the event loop is over at once.
    let now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 20));
    const found: number[] = [];
    try {
      for await (const { rows, upTo } of index.search({ name: 'absent' })) {
        expect(rows).toHaveLength(0);
        found.push(upTo);
      }
    } finally {
      clock.mockRestore();
      index.close();
    }
    expect(found.length).toBeGreaterThan(5);
    expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
    expect(found.at(-1)).toBeLessThanOrEqual(SPANS);
  });
});
