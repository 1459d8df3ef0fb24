import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AssignedColours, mixed, OTHER_COLOUR, PALETTE } from '../../../src/page/theme/palette.js';
import { noBrowser, titleOf } from '../browser.js';
import { recordService } from '../recorded-service.js';
import type { Planned } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

const NAMES = 30;
/** Names of which each is a little rarer than the one before. */
const plan: Planned[] = [];
for (let name = 0; name < NAMES; name++) {
  for (let times = 0; times < 2 * NAMES - name; times++) {
    const start = 10 * plan.length;
    plan.push({ name: `GET /${name}`, start, end: start + 8, status: 'unset', parent: undefined });
  }
}
const traces = new ViewedTraces(async (directory) => [await recordService(directory, plan)]);

describe('colours of names', () => {
  it('are different for each that the legend has, and none of these for others', () => {
    const texts = Array.from({ length: 200 }, (_, i) => `GET /${i}`);
    const colours = new AssignedColours(texts.slice(0, PALETTE.length));
    const named = texts.slice(0, PALETTE.length).map((text) => colours.of(text));
    expect(new Set(named).size).toBe(PALETTE.length);
    for (const text of texts.slice(PALETTE.length)) expect(colours.of(text)).toBe(OTHER_COLOUR);
    expect(PALETTE).not.toContain(OTHER_COLOUR);
  });
});

describe.skipIf(noBrowser !== undefined)(titleOf('the legend'), () => {
  it.each([1200, 1000])('shows all that it has on a page %d pixels wide', async (width) => {
    const { page } = await traces.open({ width, height: 800 });
    const legend = page.locator('.bar .legend');
    const items = await legend.locator('li').allTextContents();
    expect(items).toHaveLength(PALETTE.length + 1);
    expect(items.at(-1)).toBe('other names');
    const visible = await legend.evaluate((list) => {
      const box = list.getBoundingClientRect();
      return [...list.children].filter((child) => {
        const { left, right, top, bottom } = child.getBoundingClientRect();
        const isWithin = left >= box.left - 1 && right <= box.right + 1 && bottom <= box.bottom + 1;
        const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return isWithin && child.contains(seen);
      }).length;
    });
    expect(visible).toBe(items.length);
  });

  it.each([
    ['event loop blocked', 'event loop blocked'],
    ['gc major', 'garbage collection'],
  ])('has what interrupts threads only if it is there: %s', async (name, item) => {
    const path = join(traces.directory, `${name}.heph`);
    const spans = [...plan.slice(0, 50), { ...plan[50]!, name }];
    mkdirSync(path);
    const view = await traces.start([await recordService(path, spans)]);
    for (const colour of ['name', 'service', 'status']) {
      const { page } = await traces.open({}, `/time-line?colour=${colour}`, view);
      const items = await page.locator('.bar .legend li').allTextContents();
      const others = ['event loop blocked', 'garbage collection'].filter((text) => text !== item);
      expect(items[0], colour).toBe(item);
      for (const other of others) expect(items, colour).not.toContain(other);
    }
  });

  it('names the colour of each box', async () => {
    const { page, boxes, colourAt } = await traces.open({}, '/time-line?from=0&to=300000000');
    const swatches = await page.locator('.bar .legend li').evaluateAll((list) =>
      list.map((item) => {
        const rgb = getComputedStyle(item.querySelector('.swatch')!).backgroundColor;
        const hex = (rgb.match(/\d+/g) ?? []).map((each) =>
          Number(each).toString(16).padStart(2, '0'),
        );
        return [item.textContent, `#${hex.join('')}`];
      }),
    );
    const [box] = await boxes();
    expect(new Map(swatches as [string, string][]).get('GET /0')).toBe(
      await colourAt(box!.left + 2, box!.top),
    );
  });
});

describe.skipIf(noBrowser !== undefined)(titleOf('a box of many spans'), () => {
  it('has not the colour of a single one', async () => {
    const { boxes, colourAt } = await traces.open({ width: 700 });
    const merged = (await boxes()).filter(
      ({ count, left, right }) => count > 1 && right > left + 8,
    );
    expect(merged.length).toBeGreaterThan(0);
    const { left, top } = merged[0]!;
    const colour = await colourAt(left + 1, top + 4);
    expect(PALETTE.map(mixed)).toContain(colour);
    expect(PALETTE).not.toContain(colour);
  });
});

describe.skipIf(noBrowser !== undefined)(titleOf('the page'), () => {
  it('has its landmarks', async () => {
    const { page } = await traces.open({}, '/overview');
    const main = page.getByRole('main');
    await main.waitFor();
    expect(await page.getByRole('banner').count()).toBe(1);
    expect(await main.locator('#view-overview').count()).toBe(1);
    expect(await page.getByRole('navigation', { name: 'Views' }).count()).toBe(1);
    expect(await page.getByRole('search').count()).toBe(1);
  });

  it('never says of a search that runs what another one has found', async () => {
    const { page } = await traces.open({}, '/find');
    const field = page.getByRole('combobox', { name: 'Find spans' });
    await field.fill('nothing-has-this-name');
    await page.getByText('0 spans that match').waitFor();
    await page.getByText('0 spans match').waitFor({ state: 'attached' });
    await field.fill('status=unset');
    const count = plan.length.toLocaleString('en-US');
    const words = await page.locator('#view-find p').allTextContents();
    const spoken = await page.locator('#spoken').textContent();
    expect([...words, spoken].join(' ')).not.toMatch(/\b0 spans match/);
    await page.getByText(`${count} spans that match`).waitFor();
    await page.getByText(`${count} spans match`).waitFor({ state: 'attached' });
  });
});
