import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser, noBrowser, titleOf } from './browser.js';
import { openPage } from './open-page.js';
import { planOf, recordService } from './recorded-service.js';
import { startView } from './view-command.js';

const directory = mkdtempSync(join(tmpdir(), 'tracewright-page-'));
let browser: Browser;
let trace: string;

beforeAll(async () => {
  trace = await recordService(directory, planOf(20));
  if (noBrowser === undefined) browser = await launchBrowser();
});

afterAll(async () => {
  rmSync(directory, { recursive: true });
  if (noBrowser === undefined) await browser.close();
});

describe.skipIf(noBrowser !== undefined)(titleOf('the page when something fails'), () => {
  it('says that the server is gone, and keeps the picture', async () => {
    const view = await startView([trace]);
    const { page, boxes, close } = await openPage(browser, view.url);
    const before = await boxes();
    await view.kill();
    await page.locator('#time-line').focus();
    await page.keyboard.press('w', { delay: 300 });
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('Run `tracewright view` again');
    await page.keyboard.press('f');
    await page.waitForTimeout(200);
    expect((await boxes()).length).toBe(before.length);
    await close();
  });

  it('says what to do without the token', async () => {
    const view = await startView([trace]);
    const page = await browser.newPage();
    await page.goto(view.url.split('#')[0]!);
    await page.getByRole('alert').waitFor({ timeout: 10_000 });
    expect(await page.getByRole('alert').innerText()).toContain('open the address');
    await page.close();
    await view.end();
  });

  it('still shows the time line when the trace is deleted', async () => {
    const own = await recordService(directory, planOf(5), { service: 'deleted' });
    const view = await startView([own]);
    const { page, boxes, close } = await openPage(browser, view.url);
    rmSync(own);
    const [box] = await boxes();
    const position = { x: (box!.left + box!.right) / 2, y: box!.top + 4 };
    await page.locator('#time-line').click({ position });
    await page
      .locator('#panel-details')
      .getByText(/trace|no such file/i)
      .first()
      .waitFor();
    expect((await boxes()).length).toBeGreaterThan(0);
    await close();
    await view.end();
  });
});
