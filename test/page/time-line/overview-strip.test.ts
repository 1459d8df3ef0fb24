import { describe, expect, it } from 'vitest';
import { noBrowser, titleOf } from '../browser.js';
import { recordService } from '../recorded-service.js';
import type { Planned } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

/** An even load: one and a half spans in each pixel of the strip. */
const SPANS = 1500;
const plan = Array.from({ length: SPANS }, (_, at): Planned => {
  return { name: 'GET /a', start: at, end: at + 0.2, status: 'unset', parent: undefined };
});
const traces = new ViewedTraces(async (directory) => [await recordService(directory, plan)]);

/** Runs in the browser. @returns how many different heights the strip has, and how far they differ, in CSS pixels. */
function heights(): { least: number; most: number; mixed: number } {
  const canvas = document.querySelector<HTMLCanvasElement>('#overview')!;
  const { width, height, clientWidth } = canvas;
  const ratio = width / clientWidth;
  const { data } = canvas.getContext('2d')!.getImageData(0, 0, width, height);
  const colourAt = (x: number, y: number): number => {
    const at = 4 * (y * width + x);
    return (data[at]! << 16) | (data[at + 1]! << 8) | data[at + 2]!;
  };
  // The column with the names lies left of it, and the frame of the window around it.
  const [left, right] = [Math.ceil(210 * ratio), width - Math.ceil(6 * ratio)];
  const bottom = height - Math.ceil(5 * ratio);
  const full = colourAt(left, bottom);
  let [least, most, mixed] = [Infinity, 0, 0];
  for (let x = left; x < right; x++) {
    if (colourAt(x, bottom) !== full) mixed += 1;
    let y = bottom;
    while (y > 0 && colourAt(x, y) === full) y--;
    const size = (height - y) / ratio;
    [least, most] = [Math.min(least, size), Math.max(most, size)];
  }
  return { least, most, mixed };
}

describe.skipIf(noBrowser !== undefined)(titleOf('the strip of the whole recording'), () => {
  it.each([1, 1.25, 1.5, 2])(
    'is even for an even load, at %d pixels of the screen',
    async (ratio) => {
      const { page } = await traces.open({ ratio });
      await expect.poll(async () => (await page.evaluate(heights)).most).toBeGreaterThan(20);
      const { least, most, mixed } = await page.evaluate(heights);
      expect(mixed).toBe(0);
      expect(least).toBeGreaterThan(0.85 * most);
    },
  );
});
