import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { noBrowser, titleOf } from './browser.js';
import { startService } from '../fixtures/running-service.js';
import type { RunningService } from '../fixtures/running-service.js';
import { openFirstMatch } from './open-page.js';
import { ViewedTraces } from './viewed-traces.js';

const traces = new ViewedTraces(() => []);
const running: RunningService[] = [];

afterEach(async () => {
  for (const service of running.splice(0)) await service.kill();
});

async function start(...parameters: Parameters<typeof startService>): Promise<RunningService> {
  const service = await startService(...parameters);
  running.push(service);
  return service;
}

/** A new directory, and the page that follows what is in it. */
async function follow(
  directory: string,
  fragment = '/overview',
  ...options: string[]
): Promise<Page> {
  const view = await traces.start([directory], '--live', ...options);
  const { page } = await traces.open({}, fragment, view);
  return page;
}

const newDirectory = (): string => mkdtempSync(join(traces.directory, 'run-'));

/** Waits until the table of processes has these lines: service, process, and how it ended. */
async function expectProcesses(page: Page, expected: string[][]): Promise<void> {
  const shown = async (): Promise<string[][]> => {
    const lines = await page.locator('#section-processes tbody tr').all();
    const cells = await Promise.all(lines.map((line) => line.locator('th, td').allInnerTexts()));
    return cells.map(([service, pid, , ended]) => [service!, pid!, ended!]).sort();
  };
  await expect.poll(shown).toEqual(expected.toSorted());
}

describe.skipIf(noBrowser !== undefined)(titleOf('live services'), () => {
  it('that are restarted are followed on, in the files of the new process', async () => {
    const directory = newDirectory();
    const first = await start(join(directory, 'first.heph'), 'shop');
    await first.record(100, 'GET /first');
    const page = await follow(directory, '/overview');
    await page.locator('#recordings').getByText('100 records').waitFor();
    await first.kill();
    const killed = ['shop', String(first.pid), 'was killed'];
    await expectProcesses(page, [killed]);
    const second = await start(join(directory, 'second.heph'), 'shop');
    await second.record(50, 'GET /second');
    await page.locator('#recordings').getByText('150 records').waitFor();
    await expectProcesses(page, [killed, ['shop', String(second.pid), 'running']]);
    await second.record(25, 'GET /second');
    await page.locator('#recordings').getByText('175 records').waitFor();
    await second.end();
    await expectProcesses(page, [killed, ['shop', String(second.pid), 'by itself']]);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('that call each other are shown together, and so is a trace across them', async () => {
    const directory = newDirectory();
    const shop = await start(join(directory, 'shop.heph'), 'shop');
    const stock = await start(join(directory, 'stock.heph'), 'stock');
    await shop.record(1, 'GET /orders');
    await stock.record(1, 'GET /stock');
    const page = await follow(directory, '/overview');
    await page.locator('#recordings').getByText('2 records').waitFor();
    for (let round = 0; round < 5; round++) {
      const caller = await shop.record(20, 'GET /orders');
      await stock.record(20, 'GET /stock', caller);
    }
    await page.locator('#recordings').getByText('202 records').waitFor();
    await expectProcesses(page, [
      ['shop', String(shop.pid), 'running'],
      ['stock', String(stock.pid), 'running'],
    ]);
    const caller = await shop.record(1, 'GET /last');
    await stock.record(1, 'GET /asked', caller);
    await page.locator('#recordings').getByText('204 records').waitFor();
    await openFirstMatch(page, 'name="GET /last"');
    const lines = page.locator('.waterfall-body .span-row');
    await lines.nth(1).waitFor();
    expect(await lines.locator('.of-name').allInnerTexts()).toEqual(['GET /last', 'GET /asked']);
    expect(await lines.locator('.of-service').allInnerTexts()).toEqual(['shop', 'stock']);
  });

  it('that rotate their trace are one source, of which the oldest spans are deleted', async () => {
    const directory = newDirectory();
    const sizes = { RING_BYTES: 64, ROTATE_BYTES: 128, MAX_BYTES: 512 };
    const env = Object.entries(sizes).map(([name, size]) => [
      `TRACEWRIGHT_${name}`,
      String(size * 1024),
    ]);
    const service = await start(
      join(directory, 'shop.heph'),
      'shop',
      Object.fromEntries(env) as Record<string, string>,
    );
    await service.record(100, 'GET /first');
    const page = await follow(directory, '/overview');
    await page.locator('#recordings').getByText('100 records').waitFor();
    await service.record(1900, 'GET /next');
    expect(readdirSync(directory).filter((name) => name.endsWith('.heph')).length).toBeGreaterThan(
      1,
    );
    await page.locator('#recordings').getByText('2,000 records').waitFor();
    for (let round = 0; round < 10; round++) await service.record(400, 'GET /later');
    await service.record(1, 'GET /last');
    await expectProcesses(page, [['shop', String(service.pid), 'running']]);
    await page.keyboard.press('/');
    await page.keyboard.type('GET /last');
    await page.keyboard.press('Enter');
    await page.getByText('1 span that match').waitFor();
    await page.getByLabel('Find spans').fill('GET /first');
    await page.getByText('0 spans that match').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await service.end();
  });

  it.each([
    ['found by its process', []],
    ['named on the command line', ['--ring-dir']],
  ])('are followed on without the directory of their rings, %s', async (_, options) => {
    const directory = newDirectory();
    const rings = mkdtempSync(join(traces.directory, 'rings-'));
    const env = { TRACEWRIGHT_RING_DIR: rings };
    const service = await start(join(directory, 'shop.heph'), 'shop', env);
    await service.record(100, 'GET /first');
    const named = options.flatMap((option) => [option, rings]);
    const page = await follow(directory, '/overview', ...named);
    await page.locator('#recordings').getByText('100 records').waitFor();
    rmSync(rings, { recursive: true });
    await service.record(50, 'GET /second');
    await page.locator('#recordings').getByText('150 records').waitFor();
    await service.end();
    await expectProcesses(page, [['shop', String(service.pid), 'by itself']]);
    await page.locator('#recordings').getByText('150 records').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
