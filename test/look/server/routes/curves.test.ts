import { expect, it } from 'vitest';
import { Query } from '../../../../src/look/server/route.js';
import type { Question } from '../../../../src/look/server/route.js';
import { curvesRoute } from '../../../../src/look/server/routes/time-line.js';

/** What the page gets of one curve, in a window of ten pixels. */
function answer(times: number[], values: number[], from: number, to: number): unknown {
  const counters = [{ times: Float64Array.from(times), values: Float64Array.from(values) }];
  const query = new Query(new URLSearchParams(`from=${from}&to=${to}&width=10&counters=0`));
  const recording = { index: { counters }, revision: 1 };
  const { columns } = curvesRoute.answer({ recording, query } as unknown as Question) as {
    columns: Record<string, ArrayLike<number>>;
  };
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, Array.from(column)]),
  );
}

it('a pixel shows how far a curve went in it, and what holds after it', () => {
  expect(answer([0, 1, 2, 3, 50], [1, 5, 2, 0, 4], 0, 100)).toEqual({
    counter: [0, 0, 0],
    time: [0, 3, 50],
    high: [5, 0, 4],
  });
});

it('the value from before a window holds in it', () => {
  const shown = answer([0, 10, 90], [1, 2, 3], 20, 80);
  expect(shown).toEqual({ counter: [0], time: [10], high: [2] });
});
