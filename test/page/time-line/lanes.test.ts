import { describe, expect, it } from 'vitest';
import type { RecordingAnswer } from '../../../src/look/wire/answers.js';
import { linesOf } from '../../../src/page/time-line/lines.js';
import { noBrowser, titleOf } from '../browser.js';
import { recordService } from '../recorded-service.js';
import type { Planned } from '../recorded-service.js';
import { selectFirstMatch } from '../open-page.js';
import { ViewedTraces } from '../viewed-traces.js';

const NONE: ReadonlySet<number> = new Set();
const SHOWN = { folded: NONE, pinned: NONE, samples: NONE, hidden: NONE, curves: false };

const DEEP = 60;

/** Spans that are open at once, so that each has a lane. */
const deep: Planned[] = Array.from({ length: DEEP }, (_, at) => ({
  name: `span ${at}`,
  start: at,
  end: 1000 - at,
  status: 'unset',
  parent: undefined,
}));

const traces = new ViewedTraces(async (directory) => [
  await recordService(directory, deep, { service: 'deep' }),
  await recordService(directory, deep.slice(0, 2), { service: 'flat' }),
]);

describe.skipIf(noBrowser !== undefined)(titleOf('lanes of a thread'), () => {
  it('fold beyond those that have room, and still count every row', async () => {
    const { boxes } = await traces.open({}, '/time-line');
    const drawn = await boxes();
    expect(drawn.reduce((sum, { count }) => sum + count, 0)).toBe(DEEP + 2);
    const tops = new Set(drawn.map(({ top }) => top));
    expect(tops.size).toBeLessThan(50);
    // The other process is below the folded ones, and has room.
    expect(Math.max(...tops)).toBeLessThan(800);
    const merged = drawn.filter(({ count }) => count > 1);
    expect(merged.every(({ right, left }) => right - left > 30)).toBe(true);
  });

  it('are all shown with a key, or a click on their number, and folded again', async () => {
    const { page, boxes } = await traces.open({ height: 700 }, '/time-line');
    const lanes = async (): Promise<number> => (await boxes()).length;
    const folded = await lanes();
    expect(folded).toBeLessThan(DEEP);
    await page.locator('#time-line').focus();
    await page.keyboard.press('o');
    await expect.poll(lanes).toBeGreaterThan(folded);
    await page.keyboard.press('o');
    await expect.poll(lanes).toBe(folded);
    await page.locator('#time-line').click({ position: { x: 40, y: 60 } });
    await expect.poll(lanes).toBeGreaterThan(folded);
  });

  it('are shown where a span in one of them is', async () => {
    const { page, boxes } = await traces.open({ height: 700 }, '/find');
    await selectFirstMatch(page, 'name="span 59"');
    await page.waitForFunction(() => location.hash.includes('row='));
    const row = await page.evaluate(() =>
      Number(new URLSearchParams(location.hash.split('?')[1]).get('row')),
    );
    await expect
      .poll(async () => (await boxes()).some((box) => box.row === row && box.count === 1))
      .toBe(true);
  });

  it('leave the title of their process in sight', async () => {
    const { page, colourAt } = await traces.open({ height: 700 }, '/time-line');
    const canvas = page.locator('#time-line');
    await canvas.hover({ position: { x: 40, y: 60 } });
    // The colour of the band behind titles, just below the axis.
    const band = await colourAt(800, 24);
    await page.mouse.wheel(0, 90);
    await page.waitForTimeout(300);
    expect(await colourAt(800, 24)).toBe(band);
  });
});

describe('curves of one kind', () => {
  it('have one scale in all processes', () => {
    const source = (number: number) =>
      ({ number, order: number, path: `${number}.heph`, format: 'Heph' }) as const;
    const counter = (number: number, max: number) =>
      ({
        number,
        source: number,
        process: number,
        thread: 1,
        name: 'event loop delay (thread 7)',
        unit: 'ns',
        max,
      }) as const;
    const recording = {
      sources: [source(0), source(1)],
      processes: [0, 1].map((number) => ({ number, sources: [number] })),
      tracks: [],
      counters: [counter(0, 5), counter(1, 20)],
    } as unknown as RecordingAnswer;
    const curves = linesOf(recording, { ...SHOWN, curves: true }, 1000, 8, new Set()).filter(
      (line) => line.kind === 'curve',
    );
    expect(curves.map(({ max, scale }) => [max, scale])).toEqual([
      [5, 20],
      [20, 20],
    ]);
  });
});
