import { describe, expect, it } from 'vitest';
import type { OpenPage } from '../open-page.js';
import { noBrowser, titleOf } from '../browser.js';
import { recordService } from '../recorded-service.js';
import type { Planned } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

const SPANS = 6000;
/** The longest of each hundred, which gives a merged box its name, is another one. */
const plan = Array.from({ length: SPANS }, (_, at): Planned => {
  const isOther = at % 100 === 50;
  const name = isOther ? 'GET /other' : 'GET /a';
  return { name, start: at, end: at + (isOther ? 0.9 : 0.5), status: 'unset', parent: undefined };
});
const traces = new ViewedTraces(async (directory) => [await recordService(directory, plan)]);

/** The colours of the middle of each merged box. */
async function colours({ boxes, colourAt }: OpenPage): Promise<string[]> {
  const merged = (await boxes()).filter(({ count }) => count > 50);
  expect(merged.length).toBeGreaterThan(3);
  return Promise.all(
    merged.map(({ left, right, top, height }) =>
      // Right of the label.
      colourAt(Math.min(right - 3, left + 0.9 * (right - left)), top + Math.round(height / 2) + 1),
    ),
  );
}

describe.skipIf(noBrowser !== undefined)(titleOf('merged boxes of a search'), () => {
  it('are lit by the share that matches, not by their longest span', async () => {
    const plain = await colours(await traces.open());
    const most = await traces.open({}, '/time-line?find.text=name%3D%22GET+%2Fa%22');
    await expect.poll(() => colours(most)).toEqual(plain);
    const few = await traces.open({}, '/time-line?find.text=name%3D%22GET+%2Fother%22');
    // One of a hundred: a line at the bottom, and marks where they begin.
    await expect
      .poll(async () => (await colours(few)).every((colour, box) => colour !== plain[box]))
      .toBe(true);
  });

  it('have labels that one can read where they are dim', async () => {
    const dark = await traces.open(
      { dark: true },
      '/time-line?find.text=name%3D%22GET+%2Fother%22',
    );
    await dark.page.waitForTimeout(1000);
    const [box] = (await dark.boxes()).filter(({ count }) => count > 50);
    // What is not lit is dark, and the letters on it are not.
    await expect.poll(() => dark.page.evaluate(lightest, box!)).toBeGreaterThan(600);
  });
});

/** Runs in the browser. @returns red, green and blue together of the lightest pixel of a label. */
function lightest({ left, top, height }: { left: number; top: number; height: number }): number {
  const canvas = document.querySelector<HTMLCanvasElement>('#time-line')!;
  // Without the marks above, and what is lit below.
  const part = [left + 2, top + 3, 30, height - 6].map(Math.round);
  const [x, y, width, rows] = part as [number, number, number, number];
  const { data } = canvas.getContext('2d')!.getImageData(x, y, width, rows);
  let most = 0;
  for (let at = 0; at < data.length; at += 4) {
    most = Math.max(most, data[at]! + data[at + 1]! + data[at + 2]!);
  }
  return most;
}
