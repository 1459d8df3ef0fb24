import { expect, it } from 'vitest';
import { drawCurve } from '../../../src/page/time-line/draw-frame.js';
import type { CurveLine } from '../../../src/page/time-line/lines.js';
import type { CanvasColours } from '../../../src/page/theme/theme.js';

const LINE: CurveLine = {
  ...{ kind: 'curve', y: 0, height: 30, text: '', nameHeight: 0, counter: 0, unit: '' },
  ...{ max: 2, isMean: false, scale: 2, end: null },
};
const CURVE = {
  time: Float64Array.of(10, 40),
  high: Float64Array.of(2, 1),
};
const SCALE = { from: 0, to: 100, left: 0, width: 100 };

/** From and to of each bar above the line, in pixels. */
function barsOf(end: number | null): number[][] {
  const bars: number[][] = [];
  const context = {
    fillStyle: '',
    fillRect: (x: number, _y: number, width: number) => bars.push([x, x + width]),
  };
  const colours = { line: '', curve: '' } as CanvasColours;
  drawCurve(context as never, { ...LINE, end }, CURVE, SCALE, 0, colours);
  return bars.slice(1);
}

it('the last value of a curve holds until its process has ended', () => {
  const lines = [null, 60, 40, 20, 200].map(barsOf);
  expect(lines).toEqual([
    [
      [10, 40],
      [40, 100],
    ],
    [
      [10, 40],
      [40, 60],
    ],
    [
      [10, 40],
      [40, 41],
    ],
    [[10, 20]],
    [
      [10, 40],
      [40, 100],
    ],
  ]);
});
