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
});
