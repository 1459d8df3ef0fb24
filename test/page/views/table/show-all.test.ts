import { expect, test } from 'vitest';
import { startSpan } from '../../../../src/spans/start-span.js';
import { recording } from '../../../look/report/recorded-service.js';
import { noBrowser, titleOf } from '../../browser.js';
import { ViewedTraces } from '../../viewed-traces.js';

const STATEMENTS = 9;

const traces = new ViewedTraces(async () => {
  const { path } = await recording(
    () => {
      const request = startSpan('GET /cart', {}, { kind: 'server', parent: null });
      for (let at = 0; at < STATEMENTS; at++) {
        const attributes = { 'db.system.name': 'postgresql' };
        startSpan(`SELECT part ${at}`, attributes, { kind: 'client', parent: request }).end();
      }
      request.end();
    },
    { service: 'shop' },
  );
  return [path];
});

test.skipIf(noBrowser !== undefined)(titleOf('a section has few rows until one asks'), async () => {
  const { page } = await traces.open({}, '/overview');
  const section = page.locator('#section-callees');
  await section.getByText('2 more callees: show all').waitFor();
  const rows = section.locator('tbody tr');
  expect(await rows.count()).toBe(STATEMENTS - 2);
  await section.getByRole('button', { name: 'show all' }).click();
  await expect.poll(() => rows.count()).toBe(STATEMENTS);
  expect(await section.getByText('more callees').count()).toBe(0);
});

test.skipIf(noBrowser !== undefined)(
  titleOf('a narrow table names the columns that are hidden, and shows them'),
  async () => {
    const { page } = await traces.open({ width: 1000 }, '/overview');
    const routes = page.locator('#section-routes');
    const titles = routes.locator('thead th');
    await routes.getByText('3 more columns: service, max, total').waitFor();
    expect(await titles.allInnerTexts()).toEqual(expect.arrayContaining(['count', 'share ↓']));
    // The column by which rows are sorted stays.
    await page.setViewportSize({ width: 650, height: 700 });
    await routes.getByText('6 more columns:').waitFor();
    expect(await titles.allInnerTexts()).toContain('share ↓');
    await routes.getByRole('button', { name: '6 more columns' }).click();
    await expect.poll(() => titles.allInnerTexts()).toEqual(expect.arrayContaining(['max']));
    expect(await routes.getByText('more columns').count()).toBe(0);
  },
);
