import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TimeLineCanvas } from '../../src/page/time-line/picture.js';
import { noBrowser, titleOf } from './browser.js';
import { planOf, recordService } from './recorded-service.js';
import { ViewedTraces } from './viewed-traces.js';

let trace: string;
const traces = new ViewedTraces(async (directory) => {
  trace = await recordService(directory, planOf(20));
  return [];
});

describe.skipIf(noBrowser !== undefined)(titleOf('the page when something fails'), () => {
  it('says that the server is gone, and keeps the picture', async () => {
    const view = await traces.start([trace]);
    const { page, boxes } = await traces.open({}, '/time-line', view);
    const before = await boxes();
    await view.kill();
    await page.locator('#time-line').focus();
    await page.keyboard.press('w', { delay: 300 });
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('Run `tracewright view` again');
    await page.keyboard.press('f');
    await page.waitForTimeout(200);
    expect((await boxes()).length).toBe(before.length);
  });

  it('says what to do without the token', async () => {
    const view = await traces.start([trace]);
    const page = await traces.browser.newPage();
    await page.goto(view.url.split('#')[0]!);
    await page.getByRole('alert').waitFor({ timeout: 10_000 });
    expect(await page.getByRole('alert').innerText()).toContain('open the address');
    // As one does then, in the same tab.
    await page.goto(view.url);
    await page.locator('#recordings').getByText('60 records').waitFor({ timeout: 10_000 });
    expect(await page.getByRole('alert').count()).toBe(0);
    await expect.poll(() => page.url()).not.toContain(view.token);
    await page.close();
  });

  it('still shows the time line when the trace is deleted', async () => {
    const own = await recordService(traces.directory, planOf(5), { service: 'deleted' });
    const view = await traces.start([own]);
    const { page, boxes } = await traces.open({}, '/time-line', view);
    rmSync(own);
    const [box] = await boxes();
    const position = { x: (box!.left + box!.right) / 2, y: box!.top + 4 };
    await page.locator('#time-line').click({ position });
    await page
      .locator('#details')
      .getByText(/trace|no such file/i)
      .first()
      .waitFor();
    expect((await boxes()).length).toBeGreaterThan(0);
  });

  it('shows the new spans when a live trace is replaced, and says that the selected one is gone', async () => {
    const path = join(traces.directory, 'replaced.heph');
    copyFileSync(trace, path);
    const other = await recordService(traces.directory, planOf(7), { service: 'other' });
    const view = await traces.start([path], '--live');
    const { page } = await traces.open({}, '/time-line?row=30', view);
    await page.getByText('60 records').waitFor();
    await page.getByRole('heading', { level: 2 }).waitFor();
    rmSync(path);
    copyFileSync(other, path);
    await page.getByText('21 records').waitFor();
    await page.getByText('no longer in the recording').waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page
      .getByRole('region', { name: 'Threads' })
      .getByRole('cell', { name: 'other' })
      .waitFor();
  });

  it('goes on when the cache of the index is deleted', async () => {
    const requests = 12_000;
    const large = await recordService(traces.directory, planOf(requests), { service: 'large' });
    const cache = join(traces.directory, 'cache');
    const view = await traces.start([large], '--cache', cache);
    const { page } = await traces.open({}, '/time-line', view);
    rmSync(cache, { recursive: true });
    await page.evaluate(() => (location.hash = '/time-line?from=1000000000&to=1010000000&row=300'));
    await page.waitForFunction(() => {
      const { picture } = document.querySelector<TimeLineCanvas>('#time-line')!;
      if (picture === undefined || picture.size === 0) return false;
      return picture.count.subarray(0, picture.size).every((count) => count === 1);
    });
    await page.getByRole('link', { name: 'Find' }).click();
    await page.getByText(`${(3 * requests).toLocaleString('en-US')} spans`).waitFor();
  });
});
