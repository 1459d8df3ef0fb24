import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { configure, flush, shutdown, startSpan } from '../../src/spans/index.js';
import { launchBrowser, noBrowser, titleOf } from './browser.js';
import { openPage } from './open-page.js';
import { startView } from './view-command.js';

const directory = mkdtempSync(join(tmpdir(), 'tracewright-page-'));

afterAll(() => {
  rmSync(directory, { recursive: true });
});

async function record(spans: number): Promise<void> {
  for (let span = 0; span < spans; span++) startSpan('turn', { span }).end();
  await flush();
}

describe.skipIf(noBrowser !== undefined)(titleOf('a live recording'), () => {
  it('grows while it is watched', async () => {
    const path = join(directory, 'live.heph');
    configure({ target: path, service: 'live' });
    await record(100);
    const view = await startView([path], '--live');
    const browser = await launchBrowser();
    try {
      const { page } = await openPage(browser, view.url);
      await page.getByText('100 rows').waitFor();
      await record(150);
      await page.getByText('250 rows').waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Follow' }).waitFor();
      await record(50);
      await page.getByText('300 rows').waitFor();
      await page.waitForTimeout(300);
      expect(new URL(page.url()).hash).toContain('to=');
    } finally {
      await browser.close();
      await view.end();
      await shutdown();
    }
  });
});
