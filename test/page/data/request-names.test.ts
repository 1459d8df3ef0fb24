import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { configure, shutdown, startSpan } from '../../../src/spans/index.js';
import { noBrowser, titleOf } from '../browser.js';
import { BEGIN } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

/** Requests named by their method alone: of no route, and of a route that only an attribute says. */
const traces = new ViewedTraces(async (directory) => {
  const path = join(directory, 'shop.heph');
  configure({ target: path, service: 'shop' });
  const at = (ms: number): bigint => BigInt(BEGIN + ms) * 1_000_000n;
  for (let user = 0; user < 8; user++) {
    const startTime = at(user * 100);
    const server = { startTime, parent: null, kind: 'server' } as const;
    const request = startSpan('GET', { 'url.path': `/users/${user}` }, server);
    startSpan('GET', {}, { startTime, parent: request, kind: 'client' }).end(at(user * 100 + 1));
    request.end(at(user * 100 + 80));
  }
  for (let order = 0; order < 3; order++) {
    const options = { startTime: at(1000 + order * 100), parent: null, kind: 'server' } as const;
    const attributes = { 'http.route': '/orders/:id', 'url.path': `/orders/${order}` };
    startSpan('GET', attributes, options).end(at(1000 + order * 100 + 90));
  }
  await shutdown();
  return [path];
});

interface Canvas {
  texts: Set<string>;
}

/** Notes what is written on the time line from now on. */
async function noteTexts(page: Page): Promise<void> {
  await page.evaluate(() => {
    const texts = ((window as unknown as Canvas).texts = new Set<string>());
    const canvas = document.querySelector<HTMLCanvasElement>('#time-line')!;
    const context = canvas.getContext('2d')!;
    const write = context.fillText.bind(context);
    context.fillText = (text, ...place) => {
      texts.add(text);
      write(text, ...place);
    };
  });
}

describe.skipIf(noBrowser !== undefined)(titleOf('requests named by their method alone'), () => {
  it('have their paths on boxes that have room for them, and below the pointer', async () => {
    const { page, boxes } = await traces.open();
    await noteTexts(page);
    await page.evaluate(() => (location.hash = '/time-line?from=0&to=800000000'));
    await page.waitForFunction(() => (window as unknown as Canvas).texts.has('GET /users/7'));
    const texts = await page.evaluate(() => [...(window as unknown as Canvas).texts]);
    // A frame before the zoom may have drawn some of them cut.
    const paths = texts.filter((text) => /^GET \/.*[^…]$/.test(text)).sort();
    expect(paths).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((user) => `GET /users/${user}`));
    expect(texts.filter((text) => /^[A-Z]{1,2}…?$/.test(text))).toEqual([]);
    // Too narrow for a label.
    await page.evaluate(() => (location.hash = '/time-line?from=-9e9&to=9e9'));
    const isNarrow = ({ right, left, count }: { right: number; left: number; count: number }) =>
      count === 1 && right - left > 2 && right - left < 30;
    await expect.poll(async () => (await boxes()).filter(isNarrow).length).toBeGreaterThan(2);
    const box = (await boxes()).find(isNarrow)!;
    const position = { x: (box.left + box.right) / 2, y: box.top + 4 };
    await page.locator('#time-line').hover({ position });
    await page
      .locator('.tip')
      .getByText(/^GET \/(users|orders)\/\d · [89]0 ms/)
      .waitFor();
  });

  it('have them in the table', async () => {
    const { page } = await traces.open({}, '/find');
    const panel = page.locator('#view-find');
    for (const path of ['/orders/0', '/users/7']) {
      await panel.getByText(`GET ${path}`, { exact: true }).waitFor();
    }
  });

  it('are one row of the report without a route, which leads to its view', async () => {
    const { page } = await traces.open({}, '/overview');
    const groups = page.locator('#section-routes').locator('tbody tr');
    await groups.first().waitFor();
    const titles = await groups.locator('th').allInnerTexts();
    expect(titles).toEqual(['GET (no route)', 'GET /orders/:id']);
    await groups.getByRole('link', { name: 'GET /orders/:id' }).click();
    await page.locator('#view-route').getByText('GET /orders/:id').first().waitFor();
    await expect.poll(() => page.url()).toContain('where=');
  });
});
