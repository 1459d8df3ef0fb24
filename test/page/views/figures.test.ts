import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { calleeTable } from '../../../src/look/report/print/tables/callee-table.js';
import { causeTable } from '../../../src/look/report/print/tables/error-table.js';
import { groupTable } from '../../../src/look/report/print/tables/group-tables.js';
import {
  interruptionTable,
  stallLineTable,
} from '../../../src/look/report/print/tables/interruption-tables.js';
import { processTable } from '../../../src/look/report/print/tables/process-table.js';
import { cellText } from '../../../src/look/report/print/tables/report-table.js';
import type { ReportTable } from '../../../src/look/report/print/tables/report-table.js';
import {
  memoryTable,
  poolTable,
  threadTable,
} from '../../../src/look/report/print/tables/resource-tables.js';
import { sourceTable } from '../../../src/look/report/print/tables/source-tables.js';
import type { Report } from '../../../src/look/report/shape/report-shape.js';
import { main, tracewright } from '../../cli/run-command.js';
import { axeFindings } from '../accessibility.js';
import { noBrowser, titleOf } from '../browser.js';
import { ViewedTraces } from '../viewed-traces.js';

const root = join(dirname(main), '../..');
const traces = new ViewedTraces((directory) => {
  const run = join(directory, 'run');
  const register = join(root, 'dist/node/register.js');
  const env = {
    ...process.env,
    TRACEWRIGHT_DIR: run,
    TRACEWRIGHT_QUIET: '1',
    // Other tests record no stalls.
    TRACEWRIGHT_STALL_MS: '50',
    TRACEWRIGHT_ENABLED: 'on',
  };
  const args = ['--require', register, join(root, 'examples/busy-shop.mjs'), '8'];
  execFileSync(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return [run];
});

/** The cells of the rows of a table, as the command writes them. */
function textsOf<T>({ columns, rows }: ReportTable<T>): string[][] {
  return rows.map((row) => columns.map((column) => cellText(column, row)));
}

/** The same in the page, as many columns as are expected of each table. */
function shownIn(page: Page, section: string): Promise<string[][]> {
  return page
    .locator(`#section-${section} table`)
    .first()
    .locator('tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => Array.from(row.children, (cell) => cell.textContent.trim())),
    );
}

async function expectFigures(page: Page, report: Report): Promise<void> {
  const routes = textsOf(groupTable(report));
  const shown = await shownIn(page, 'routes');
  expect(shown.map((row) => row.slice(0, routes[0]!.length))).toEqual(routes);
  const { errors, interruptions, pools, threads, memory } = report;
  const tables: Record<string, string[][]> = {
    callees: textsOf(calleeTable(report)),
    errors: textsOf(causeTable(errors)),
    stalls: textsOf(stallLineTable(interruptions)),
    processes: textsOf(processTable(report)),
    pools: textsOf(poolTable(pools)),
    interruptions: textsOf(interruptionTable(interruptions)),
    threads: textsOf(threadTable(threads)),
    memory: textsOf(memoryTable(memory)),
  };
  for (const [name, expected] of Object.entries(tables)) {
    expect(await shownIn(page, name), name).toEqual(expected);
  }
  const findings = await page.locator('.findings .finding').allTextContents();
  expect(findings).toEqual(report.findings.map(({ text }) => text));
}

/** `about 1,200` */
const numberOf = (text: string): number => Number(text.replace(/about |,/g, ''));

/** Requests and failures a second of each piece, of the table beside the curves. */
async function expectCurves(page: Page, { timeline }: Report): Promise<void> {
  const chart = page.locator('figure', { hasText: 'Requests a second' });
  await chart.locator('summary').click();
  // It is made when it is opened.
  await chart.locator('tbody tr').first().waitFor();
  const rows = await chart
    .locator('tbody tr')
    .evaluateAll((all) =>
      all.map((row) => Array.from(row.children, (cell) => cell.textContent).slice(1)),
    );
  expect(rows).toHaveLength(timeline.count.length);
  const perSecond = (texts: (string | undefined)[]): number =>
    texts.reduce((sum, text) => sum + Number(text!.replaceAll(',', '').replace('/s', '')), 0);
  const all = timeline.count.reduce((sum, count) => sum + count, 0);
  const sum = rows.reduce((total, row) => total + perSecond(row), 0);
  expect((sum * timeline.width) / 1e9 / all).toBeCloseTo(1, 1);
}

describe.skipIf(noBrowser !== undefined)(titleOf('every figure of the Overview'), () => {
  it('is that of the command, on the page and in the file of a report', async () => {
    const path = join(traces.directory, 'run');
    const report = JSON.parse(tracewright('report', path, '--json').stdout) as Report;
    const { port, token } = traces.view;
    const answer = await fetch(`http://127.0.0.1:${port}/data/report?slowest=5`, {
      headers: { 'x-tracewright-token': token },
    });
    expect(((await answer.json()) as { report: Report }).report).toEqual(report);
    const { page, complaints } = await traces.open({}, '/overview');
    await page.locator('#section-routes tbody tr').first().waitFor();
    await expectFigures(page, report);
    await expectCurves(page, report);
    const recordings = page.locator('#recordings tbody tr').locator('th, td');
    expect(await recordings.allTextContents()).toEqual(textsOf(sourceTable(report)).flat());
    expect(complaints).toEqual([]);

    const file = join(traces.directory, 'report.html');
    tracewright('report', path, '--html', file);
    const asked: string[] = [];
    const alone = await traces.browser.newPage();
    alone.on('request', (request) => asked.push(request.url()));
    await alone.goto(pathToFileURL(file).href);
    await alone.locator('#section-routes tbody tr').first().waitFor();
    await expectFigures(alone, report);
    expect(asked).toEqual([pathToFileURL(file).href]);
    await alone.close();
  });

  it('lists as many spans behind a cause and a callee as its row says', async () => {
    const { page } = await traces.open({ width: 2200 }, '/overview');
    const links = page.locator('#section-errors td.bad a, #section-callees th a');
    await links.first().waitFor();
    const rows = await links.evaluateAll((all) =>
      all.map((link) => {
        const titles = Array.from(link.closest('table')!.querySelectorAll('thead th'));
        const column = titles.findIndex(({ textContent }) => /^(calls|count)$/.test(textContent));
        const { cells } = link.closest('tr')!;
        return { count: cells[column]!.textContent, address: link.getAttribute('href')! };
      }),
    );
    expect(rows.length).toBeGreaterThan(8);
    for (const { count, address } of rows) {
      await page.evaluate((hash) => (location.hash = hash), address);
      const search = new URLSearchParams(address.split('?')[1]).get('find.text')!;
      const line = page.locator('#view-find .choice-line').filter({ hasText: search });
      await line.getByText(/^[\d,]+ spans? that match/).waitFor();
      const text = await line.textContent();
      const listed = text!.split(' ')[0]!;
      if (!count.startsWith('about ')) expect(listed, text!).toBe(count);
      else expect(Math.abs(numberOf(listed) / numberOf(count) - 1), text!).toBeLessThan(0.2);
    }
  });

  it.each([800, 1280, 1920])('has no table that is cut, %d pixels wide', async (width) => {
    const { page } = await traces.open({ width }, '/overview');
    await page.locator('#section-routes tbody tr').first().waitFor();
    for (const summary of await page.locator('#view-overview summary').all()) await summary.click();
    await page.locator('#section-threads table').waitFor();
    const cut = await page
      .locator('.pair > section')
      .evaluateAll((all) =>
        all.filter((each) => each.scrollWidth > each.clientWidth).map(({ id }) => id),
      );
    expect(cut).toEqual([]);
  });

  it.each([
    ['dark', 800, 600],
    ['light', 2560, 1300],
  ] as const)('has nothing against axe-core, %s, %d pixels wide', async (theme, width, height) => {
    const dark = theme === 'dark';
    const { page } = await traces.open({ width, height, dark }, '/overview');
    await page.locator('#section-routes tbody tr').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    for (const summary of await page.locator('#view-overview summary').all()) await summary.click();
    await page.locator('#section-threads table').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(beyond).toBeLessThanOrEqual(0);
  });
});
