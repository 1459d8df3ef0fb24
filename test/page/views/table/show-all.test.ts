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
