import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { Served } from '../look/server/served.js';
import { writeTicks } from '../traces/fixtures/ticks/ticks-example.js';
import { launchBrowser, noBrowser, titleOf } from './browser.js';
import { openPage } from './open-page.js';

// The one line that a new format adds to the table.
vi.mock(import('../../src/traces/formats.js'), async (original) => {
  const { ticksFormat } = await import('../traces/fixtures/ticks/ticks-format.js');
  const { allFormats, ...rest } = await original();
  return { ...rest, allFormats: (endian) => [ticksFormat, ...allFormats(endian)] };
});

test.skipIf(noBrowser !== undefined)(titleOf('shows a made-up format'), async () => {
  const path = join(temporaryDirectory(), 'made-up.ticks');
  writeTicks(path);
  const served = await Served.of(path);
  const browser = await launchBrowser();
  const { page, boxes, complaints } = await openPage(browser, served.url);
  await page.locator('#recordings').getByRole('cell', { name: 'Ticks', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Time line', exact: true }).click();
  await expect.poll(async () => (await boxes()).map(({ row }) => row).sort()).toEqual([0, 1, 2]);
  const { left, right, top } = (await boxes()).find(({ row }) => row === 2)!;
  await page.locator('#time-line').click({ position: { x: (left + right) / 2, y: top + 4 } });
  const details = page.locator('#details');
  await details.getByRole('heading', { name: 'rest' }).waitFor();
  expect(await details.getByRole('row', { name: /^thread/ }).innerText()).toContain('worker 2');
  expect(complaints).toEqual([]);
  await browser.close();
  await served.close();
});
