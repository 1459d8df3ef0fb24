import { describe, expect, it } from 'vitest';
import type { TimeLineCanvas } from '../../../../src/page/time-line/picture.js';
import { noBrowser, titleOf } from '../../browser.js';
import { recordService } from '../../recorded-service.js';
import type { Planned } from '../../recorded-service.js';
import { selectFirstMatch } from '../../open-page.js';
import { ViewedTraces } from '../../viewed-traces.js';

const span = (name: string, start: number, end: number): Planned => ({
  name,
  start,
  end,
  status: 'unset',
  parent: undefined,
});

/** Requests that waited while one blocked the loop, and what began and ended about when the stall did. */
const plan = [
  ...Array.from({ length: 20 }, (_, at) => span('GET /waits', 90 - at, 301 + at)),
  span('GET /blocks', 99, 330),
  span('event loop blocked', 100, 300),
  span('GET /later', 290, 300.5),
];

const traces = new ViewedTraces(async (directory) => [
  await recordService(directory, plan, { service: 'stalled' }),
]);

describe.skipIf(noBrowser !== undefined)(titleOf('a stall'), () => {
  it('lists the innermost span first that was open meanwhile, and all when asked', async () => {
    const { page } = await traces.open({}, '/find');
    await selectFirstMatch(page, 'event*');
    const details = page.locator('#details');
    const links = details.getByTitle('Show this span');
    await links.first().waitFor();
    expect(await links.allInnerTexts()).toEqual(['GET /blocks', 'GET /waits', 'GET /waits']);
    await details.getByRole('button', { name: 'Show all 22' }).click();
    expect(await links.count()).toBe(22);
    expect(await links.last().innerText()).toBe('GET /later');
    expect(await details.getByRole('row', { name: 'service stalled' }).count()).toBe(1);
    const delayed = details.getByRole('row', { name: /^delayed/ });
    expect(await delayed.innerText()).toMatch(/GET \/waits \(20 times\), GET \/blocks$/);
    expect(await details.getByRole('row', { name: /^start/ }).innerText()).toMatch(
      /after the start of the recording, \d{4}-\d\d-\d\d [\d:.]+ UTC$/,
    );
  });

  it('is listed with its thread and its place on the time line', async () => {
    const { page } = await traces.open({}, '/overview');
    const report = page.locator('#view-overview');
    await report.getByText('More figures').click();
    const threads = report.locator('#section-interruptions table');
    await threads.waitFor();
    expect(await threads.locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^event loop blocked\s+stalled\s+\d+\s+main\s+1\s+200 ms/),
    ]);
    const stalls = report.locator('#section-longest table');
    expect(await stalls.locator('tbody tr').innerText()).toMatch(
      /^200 ms\s+\d{4}-[\d-]+ [\d:.]+ UTC\s/,
    );
    // Words that are read as sentences have room.
    const least = await stalls
      .locator('th', { hasText: 'delayed' })
      .evaluate((title) => getComputedStyle(title).minWidth);
    expect(parseFloat(least)).toBeGreaterThan(120);
    await stalls.getByTitle('Show it on the time line').click();
    await page.locator('#details').getByRole('heading', { name: 'event loop' }).waitFor();
  });

  it('is drawn in folded lanes, too, where others are longer', async () => {
    const { page, boxes } = await traces.open({ height: 420 }, '/time-line');
    const [stall] = await page.evaluate(() => {
      const { picture } = document.querySelector<TimeLineCanvas>('#time-line')!;
      return Array.from(picture!.lane.subarray(0, picture!.size), (lane, box) => ({ lane, box }))
        .filter(({ lane }) => lane === 65_535)
        .map(({ box }) => box);
    });
    const box = (await boxes())[stall!]!;
    const position = { x: (box.left + box.right) / 2, y: box.top + 4 };
    await page.locator('#time-line').hover({ position });
    await page.locator('.tip').getByText('event loop blocked · 200 ms').waitFor();
  });

  it('has a colour of its own, which the legend names', async () => {
    const { page, boxes, colourAt } = await traces.open(
      { width: 1600 },
      '/time-line?find.text=event*',
    );
    await page.waitForTimeout(1000);
    const row = (await boxes()).filter(({ count }) => count === 1);
    const colours = await Promise.all(row.map(({ left, top }) => colourAt(left + 2, top)));
    expect(colours.filter((colour) => colour === '#16202a')).toHaveLength(1);
    const swatch = page.locator('.bar .legend li').first();
    expect(await swatch.innerText()).toBe('event loop blocked');
    const colour = await swatch
      .locator('.swatch')
      .evaluate((each) => getComputedStyle(each).backgroundColor);
    expect(colour).toBe('rgb(22, 32, 42)');
  });
});
