import { expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { foldedStalls } from '../../../src/look/server/folded-stalls.js';
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
