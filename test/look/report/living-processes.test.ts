import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { endOf } from '../../../src/look/report/selection.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { makeReport } from '../../../src/look/report/report.js';
import { textReport } from '../../../src/look/report/text/text-report.js';
import { textStyle } from '../../../src/look/report/text/text-style.js';
import { startService } from '../../fixtures/running-service.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const directory = temporaryDirectory();

it('living processes are complete up to now, also where they have recorded nothing since', async () => {
  const begun = Date.now();
  const shop = await startService(join(directory, 'shop.heph'), 'shop');
  await shop.record(100, 'GET /cart');
  const stock = await startService(join(directory, 'stock.heph'), 'stock');
  await stock.record(100, 'GET /stock');
  await sleep(2000);
  const index = await openLookIndex([directory], { cache: false });
  const first = (await makeReport(index)).report;
  const now = Date.now();
  for (const { until, recorded } of first.sources) {
    expect(now - Date.parse(until!)).toBeLessThan(1000);
    expect(recorded / 1e6).toBeGreaterThan(1900);
    expect(recorded / 1e6).toBeLessThan(now - begun + 50);
  }
  // By the clock of this process: a hundred in more than two seconds.
  for (const { count, rate } of first.groups) {
    expect(count).toBe(100);
    expect(rate).toBeLessThan(50);
    expect(rate).toBeGreaterThan(100 / ((now - begun) / 1000));
  }
  const text = [...textReport(first, textStyle(200, false))].join('\n');
  expect(text).toMatch(/running +complete to|state +complete to/);

  await sleep(500);
  await shop.record(100, 'GET /cart');
  await index.refresh();
  const again = (await makeReport(index)).report;
  // One of them has recorded nothing since, and is complete up to now nevertheless.
  const untils = again.sources.map(({ until }) => Date.parse(until!));
  expect(Math.abs(untils[0]! - untils[1]!)).toBeLessThan(200);
  expect(Math.min(...untils)).toBeGreaterThan(now);
  await shop.kill();
  await stock.end();
  await index.refresh();
  expect(index.sources.map(({ until }) => until)).toEqual([undefined, undefined]);
  expect(endOf(index)).toBe(index.length);
  index.close();
});
