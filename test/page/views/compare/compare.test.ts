import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { compareRecordings } from '../../../../src/look/compare/compare-recordings.js';
import { comparisonTables } from '../../../../src/look/compare/comparison-table.js';
import type { Comparison } from '../../../../src/look/compare/comparison-shape.js';
import { cellText } from '../../../../src/look/report/print/tables/report-table.js';
import type { ReportTable } from '../../../../src/look/report/print/tables/report-table.js';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { recording } from '../../../look/report/recorded-service.js';
import { main, tracewright } from '../../../cli/run-command.js';
import { noBrowser, titleOf } from '../../browser.js';
import { planOf, recordService } from '../../recorded-service.js';
import { ViewedTraces } from '../../viewed-traces.js';

const traces = new ViewedTraces(async (directory) => [
  await recordService(directory, planOf(30), { service: 'shop' }),
  await recordService(directory, planOf(30), { service: 'stock' }),
]);

describe.skipIf(noBrowser !== undefined)(titleOf('a comparison of different services'), () => {
  it('is offered by nobody, and says what it is when chosen', async () => {
    const { page } = await traces.open({}, '/compare');
    const panel = page.locator('#view-compare');
    await panel.getByText('No service was recorded twice').waitFor();
    for (const [side, name] of [
      ['Before', /shop/],
      ['After', /stock/],
    ] as const) {
      await panel.getByText(`${side}: choose a recording`).click();
      await panel.getByRole('group', { name: side }).getByRole('checkbox', { name }).click();
    }
    await panel.getByText('These are different services: shop before, stock after.').waitFor();
    const line = panel.locator('tbody tr', { hasText: 'GET /stock' });
    await line.waitFor();
    expect(await line.innerText()).toContain('20 → 20');
  });
});

/** Requests of two routes over a minute; one reads the stock so often. */
async function stockRead(minutesAgo: number, times: number): Promise<string> {
  const begin = (BigInt(Date.now()) - BigInt(minutesAgo) * 60_000n) * 1_000_000n;
  const { path } = await recording(
    () => {
      for (let at = 0; at < 200; at++) {
        const startTime = begin + BigInt(at) * 290_000_000n;
        const name = at % 2 === 0 ? 'GET /orders/:id' : 'GET /stock';
        const request = startSpan(name, {}, { kind: 'server', parent: null, startTime });
        const calls = at % 2 === 0 ? times : 1;
        for (let each = 0; each < calls; each++) {
          const call = { kind: 'client', parent: request, startTime } as const;
          startSpan('SELECT stock', {}, call).end(startTime + 500_000n);
        }
        request.end(startTime + 5_000_000n);
      }
    },
    { service: 'shop' },
  );
  return path;
}

/** The cells of a table, as the command writes them. */
function textsOf<T>({ columns, rows }: ReportTable<T>): string[][] {
  return rows.map((row) => columns.map((column) => cellText(column, row)));
}

/** The same in the page. */
async function shownIn(page: Page, title: string): Promise<string[][]> {
  const rows = page.getByRole('table', { name: title, exact: true }).locator('tbody tr');
  await rows.first().waitFor();
  return rows.evaluateAll((all) =>
    all.map((row) => Array.from(row.children, (cell) => cell.textContent)),
  );
}

const sides: string[] = [];
const twice = new ViewedTraces(async () => {
  sides.push(await stockRead(10, 1), await stockRead(2, 21));
  return sides;
});

const root = join(dirname(main), '../..');
const runs = new ViewedTraces((directory) =>
  ['before', 'after'].map((side) => {
    const run = join(directory, side);
    const own = { TRACEWRIGHT_DIR: run, TRACEWRIGHT_QUIET: '1', TRACEWRIGHT_STALL_MS: '50' };
    const env = { ...process.env, ...own };
    const program = ['dist/node/register.js', 'examples/busy-shop.mjs'].map((at) => join(root, at));
    execFileSync(process.execPath, ['--require', ...program, '2'], { env, stdio: 'ignore' });
    return run;
  }),
);

describe.skipIf(noBrowser !== undefined)(titleOf('two recordings of one service'), () => {
  it('are shown one by one, the newest first, and compared whatever is shown', async () => {
    const { page, complaints } = await runs.open({}, '/overview');
    const spansOf = async (name: string, recordings: number): Promise<number> => {
      const choice = page.getByRole('combobox', { name: 'Recording' });
      if ((await choice.inputValue()) !== name) await choice.selectOption(name);
      const summary = page.locator('[aria-busy=false] > p', { hasText: 'spans in' });
      const text = await summary.filter({ hasText: `from ${recordings} recording` }).innerText();
      return Number(text.split(' ')[0]!.replace(',', ''));
    };
    const newest = await spansOf('after', 1);
    // Nobody has chosen a range.
    expect(await page.getByRole('button', { name: 'Clear range' }).count()).toBe(0);
    const all = await spansOf('all together', 2);
    const first = await spansOf('before', 1);
    expect(first).toBeGreaterThan(0);
    expect(first + newest).toBe(all);
    await page.getByRole('button', { name: 'Compare before with after' }).click();
    await page.getByText('Whole recordings are compared, whatever range').waitFor();
    const [before, after] = ['before', 'after'].map((side) => join(runs.directory, side));
    const { stdout } = tracewright('report', after!, '--against', before!, '--json');
    const { memory } = comparisonTables(JSON.parse(stdout) as Comparison);
    expect(memory.rows).toHaveLength(2);
    expect(await shownIn(page, memory.title)).toEqual(textsOf(memory));
    await page.locator('#view-compare').getByRole('link', { name: 'GET /price' }).first().click();
    await page
      .locator('#view-find')
      .getByText(/^[\d,]+ spans that match/)
      .waitFor();
    expect(page.url()).not.toContain('rangeFrom');
    expect(complaints).toEqual([]);
  });
});

describe.skipIf(noBrowser !== undefined)(titleOf('a comparison of calls'), () => {
  it('has the table of the command, by route', async () => {
    const [before, after] = await Promise.all(sides.map((path) => openLookIndex([path])));
    const compared = await compareRecordings(
      { index: before!, condition: {} },
      { index: after!, condition: {} },
    );
    before!.close();
    after!.close();
    const { calls } = comparisonTables(compared);
    const wanted = textsOf(calls);
    expect(wanted.map((row) => row.slice(0, 4))).toEqual([
      ['SELECT stock', 'GET /orders/:id', 'shop', 'more'],
    ]);
    const { page } = await twice.open({}, '/compare');
    const panel = page.locator('#view-compare');
    expect(await shownIn(page, calls.title)).toEqual(wanted);
    await panel
      .getByRole('table', { name: calls.title })
      .first()
      .getByText('GET /orders/:id')
      .click();
    await page.waitForURL(/name/);
  });
});
