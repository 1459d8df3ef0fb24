import { expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { boxesOf } from '../../../src/look/server/boxes.js';
import { foldedStalls } from '../../../src/look/server/folded-stalls.js';
import { Recording } from '../../../src/look/server/recording.js';
import { service, stall } from '../report/handmade-service.js';
import type { MadeSpan } from '../report/handmade-service.js';

it('stalls in folded lanes are found, those that are close to each other as one', async () => {
  // They are open when the loop is blocked, so that stalls lie in lane 6.
  const open = Array.from({ length: 6 }, (_, i): MadeSpan => {
    return { id: BigInt(i + 1), name: 'GET /', at: [i, 1000 - i] };
  });
  const stalls = [stall(20n, 100, 200), stall(21n, 201, 203), stall(22n, 600, 700)];
  const index = await openLookIndex([service('shop', [...open, ...stalls])], { cache: false });
  try {
    const found = (lanes: number, opened: number[], from = 0): unknown[] => {
      const fold = { lanes, open: new Set(opened) };
      const window = { from, to: 1e9, tracks: [0], fold };
      return foldedStalls(index, window, 1e6).map(({ start, end, count, duration }) => [
        ...[start, end, duration].map((ns) => ns / 1e6),
        count,
      ]);
    };
    expect(found(4, [])).toEqual([
      [100, 203, 100, 2],
      [600, 700, 100, 1],
    ]);
    expect(found(4, [], 300e6)).toEqual([[600, 700, 100, 1]]);
    // Their lane is shown.
    expect(found(4, [0])).toEqual([]);
    expect(found(8, [])).toEqual([]);
  } finally {
    index.close();
  }
});

it('a stall does not merge with what is next to it', async () => {
  const short = (id: number, start: number): MadeSpan => {
    return { id: BigInt(id), name: 'GET /', at: [start, start + 5] };
  };
  const spans = Array.from({ length: 1000 }, (_, at) =>
    short(at + 1, at < 500 ? at * 10 : 5200 + at * 10),
  );
  const made = [...spans, stall(2000n, 5000, 5190)];
  const index = await openLookIndex([service('shop', made)], { cache: false });
  try {
    const columns = boxesOf(new Recording(index, false), {
      ...{ from: 0, to: 16e9, width: 1000, tracks: [0], budget: 1 },
      screen: { width: 1000, lanes: 10 },
    });
    const boxes = Array.from(columns.row, (_, at) => ({
      times: [columns.start[at]! / 1e6, columns.end[at]! / 1e6],
      count: columns.count[at]!,
    }));
    expect(boxes.filter(({ times: [from] }) => from === 5000)).toEqual([
      { times: [5000, 5190], count: 1 },
    ]);
    expect(boxes.length).toBeLessThan(30);
  } finally {
    index.close();
  }
});
