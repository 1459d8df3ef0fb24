import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { durationText } from '../../../src/look/report/measures/units.js';
import { main } from '../../cli/run-command.js';
import { noBrowser, titleOf } from '../browser.js';
import type { OpenPage, PageOptions } from '../open-page.js';
import { ViewedTraces } from '../viewed-traces.js';

const REQUESTS = 300;
const traces = new ViewedTraces((directory) => [
  recordRun(join(directory, 'runs/before'), 1),
  recordRun(join(directory, 'runs/after'), 1.5),
]);
let opened: OpenPage;

/** A service with 300 requests, every third of orders; those take `factor` times their 6 ms. */
function recordRun(directory: string, factor: number, service = 'shop'): string {
  mkdirSync(directory, { recursive: true });
  const spans = pathToFileURL(join(dirname(main), '../spans/index.mjs')).href;
  const program = `
    import { configure, shutdown, startSpan } from ${JSON.stringify(spans)};
    configure({ target: process.argv[1], service: '${service}' });
    // Not at a full second: a recorded time may be a little earlier.
    const at = (ms) => 1767323045100 + ms;
    for (let request = 0; request < ${REQUESTS}; request++) {
      const start = request * 10;
      const isOrder = request % 3 === 0;
      // Some more, some less, the same in both runs.
      const end = start + (isOrder ? 6 * ${factor} : 6) + (request % 7) * 0.1;
      const root = startSpan(isOrder ? 'GET /orders' : 'GET /stock', { user: 'u' + (request % 10) },
        { startTime: at(start), parent: null, kind: 'server' });
      const query = startSpan('SELECT', {}, { startTime: at(start + 1), parent: root });
      if (request % 100 === 99) query.fail(new Error('no'));
      query.end(at(end - 1));
      root.end(at(end));
    }
    await shutdown();`;
  const args = ['--input-type=module', '-e', program, join(directory, `${service}.heph`)];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  return directory;
}

async function open(view: string, query = '', options?: PageOptions): Promise<Locator> {
  opened = await traces.open(options, `/${view}${query}`);
  return opened.page.locator(`#view-${view}`);
}

const TITLES = ['Overview', 'Route', 'Trace', 'Time line', 'Find', 'Compare'];

const textOf = async (place: Locator): Promise<string> => (await place.textContent()) ?? '';

describe.skipIf(noBrowser !== undefined)(titleOf('the views'), () => {
  it('find: Enter lists the matches, and a click opens the trace of one; back is the list', async () => {
    await open('overview');
    const { page } = opened;
    await page.keyboard.press('/');
    await page.keyboard.type('status=error');
    await page.keyboard.press('Enter');
    const panel = page.locator('#view-find');
    await panel.getByText('6 spans that match').waitFor();
    expect(new URL(page.url()).hash).toBe('#/find?find.text=status%3Derror');
    const row = panel.locator('.grid-body [role=row]').first();
    const cells = await row.locator('[role=gridcell]').allInnerTexts();
    expect(cells).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d\.\d{3}$/),
      expect.stringMatching(/ ms$/),
      'SELECT',
      'shop',
      'error',
      expect.stringMatching(/^GET \/(orders|stock)$/),
      expect.stringMatching(/^[\da-f]{8}$/),
    ]);
    await row.click();
    await page.locator('#view-trace').waitFor();
    expect(new URL(page.url()).hash).toMatch(new RegExp(`^#/trace/${cells[6]!}[\\da-f]{24}\\?`));
    await page.goBack();
    await panel.getByText('6 spans that match').waitFor();
    await page.goBack();
    await page.locator('#view-overview').waitFor();
    await page.goForward();
    await panel.getByText('6 spans that match').waitFor();
  });

  it('services that are off are in no view', async () => {
    const other = recordRun(join(traces.directory, 'stock'), 1, 'stock');
    const view = await traces.start([join(traces.directory, 'runs/before'), other]);
    opened = await traces.open({}, '/find?services.off=shop', view);
    const panel = opened.page.locator('#view-find');
    await panel.getByText('600 spans').waitFor();
    await opened.page.getByRole('checkbox', { name: 'shop' }).check();
    await panel.getByText('1,200 spans').waitFor();
    await opened.page.getByRole('checkbox', { name: 'stock' }).uncheck();
    await opened.page.getByRole('link', { name: 'Overview' }).click();
    await opened.page.getByText('600 spans in').waitFor();
  });

  it('find: the first digits of an id lead to its trace, and without a match it says what matches', async () => {
    const panel = await open('find', '?find.text=status%3Derror');
    const { page } = opened;
    const digits = await textOf(panel.locator('.grid-body code').first());
    const field = page.getByRole('combobox', { name: 'Find spans' });
    await field.fill(digits.slice(0, 7));
    await field.press('Enter');
    await page.locator('#view-trace').getByText(digits).first().waitFor();
    await field.fill('facade');
    await field.press('Enter');
    await panel.getByText('Nothing matches.').waitFor();
    await panel.getByRole('button', { name: 'kind=server' }).click();
    await panel.getByText('600 spans that match').waitFor();
  });

  it('find: its text is in the field where it selects something, and not of a trace', async () => {
    const panel = await open('find', '?find.text=status%3Derror');
    const { page } = opened;
    const field = page.getByRole('combobox', { name: 'Find spans' });
    await panel.locator('.grid-body [role=row]').first().click();
    await page.locator('#view-trace').waitFor();
    expect(await field.inputValue()).toBe('');
    await field.fill('facade');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.locator('#view-overview').waitFor();
    expect(await field.inputValue()).toBe('');
    await page.getByRole('link', { name: 'Find' }).click();
    await panel.getByText('6 spans that match').waitFor();
    expect(await field.inputValue()).toBe('status=error');
  });

  it('find: keeps every character however fast it is typed', async () => {
    const panel = await open('find');
    const field = opened.page.getByRole('combobox', { name: 'Find spans' });
    for (const text of ['status=error duration>=0ms name=*', 'kind=server  name=* duration>=1']) {
      await field.fill('');
      await field.pressSequentially(text);
      expect(await field.inputValue()).toBe(text);
    }
    await panel.getByText('spans that match').waitFor();
    // Half a term asks nothing that the server refuses.
    expect(opened.complaints).toEqual([]);
  });

  it('the curves have the colours of the system, also when they change', async () => {
    await open('overview');
    const { page } = opened;
    const pixels = (): Promise<string> =>
      page
        .locator('.plot canvas')
        .first()
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const light = await pixels();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(pixels).not.toBe(light);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(pixels).toBe(light);
  });

  it('find: offers the causes of failure by their messages', async () => {
    const panel = await open('find');
    await opened.page.getByRole('combobox', { name: 'Find spans' }).fill(': no');
    const option = opened.page.locator('#find-terms option[value^="cause="]').first();
    await option.waitFor({ state: 'attached' });
    const term = (await option.getAttribute('value'))!;
    expect(term).toMatch(/^cause="shop: Error at .*: no"$/);
    await opened.page.getByRole('combobox', { name: 'Find spans' }).fill(term);
    await panel.getByText('6 spans that match').waitFor();
  });

  it('trace: offers the slowest before one is chosen', async () => {
    const panel = await open('trace');
    const rows = panel.locator('#section-slowest tbody tr');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(5);
    await rows.first().getByRole('link').click();
    await panel.getByRole('treegrid').waitFor();
  });

  it('find: says what is wrong with a text', async () => {
    const panel = await open('find', '?find.text=status%3Dsad');
    await panel.getByRole('alert').waitFor();
    expect(await textOf(panel.getByRole('alert'))).toBe(
      '“status=sad” is not understood: use one of unset, ok, error.',
    );
  });

  it('find: shows the longest first, sorts by another column, and chooses by keyboard', async () => {
    const panel = await open('find', '?find.text=user%3Du3');
    await panel.getByText('60 spans that match').waitFor();
    const durations = await panel.locator('.grid-body [role=row]').allTextContents();
    expect(durations[0]).toMatch(/9\.6 msGET \/orders/);
    await panel.getByRole('button', { name: 'Name' }).click();
    await panel.getByRole('button', { name: 'Name ↑' }).waitFor();
    await panel.locator('.grid-body [role=row]').first().getByText('GET /orders').waitFor();
    await panel.getByRole('grid').focus();
    await opened.page.keyboard.press('End');
    await opened.page.keyboard.press('Enter');
    await opened.page.locator('#view-trace').waitFor();
    await expect.poll(() => opened.page.url()).toMatch(/row=\d+/);
  });

  it('find: has every row, however far one scrolls', async () => {
    const panel = await open('find', '?table.sort=start&table.order=ascending');
    await panel.getByText('1,200 spans').waitFor();
    const grid = panel.getByRole('grid');
    const seen = new Set<string>();
    const height = await grid.evaluate((box) => box.scrollHeight);
    for (let top = 0; top <= height; top += 200) {
      for (const row of await grid.evaluate(scrollTo, top)) seen.add(row);
    }
    expect(seen.size).toBe(4 * REQUESTS);
  });

  it('overview: says the total of each group', async () => {
    const panel = await open('overview', '?group.by=attribute.user');
    const table = panel.locator('#section-routes');
    await table.getByText('u7').waitFor();
    const titles = await table.locator('thead th').allTextContents();
    const at = titles.indexOf('total');
    const rows = table.locator('tbody tr', { hasText: /^u\d/ });
    for (const row of await rows.all()) {
      const cells = await row.locator('th, td').allTextContents();
      const user = Number(cells[0]!.slice(1));
      let total = 0;
      for (let request = user; request < REQUESTS; request += 10) {
        for (const factor of [1, 1.5]) {
          total += request % 3 === 0 ? 6 * factor : 6;
          total += (request % 7) * 0.1;
        }
      }
      expect(cells[at], cells[0]).toBe(durationText(total * 1e6));
    }
    expect(await rows.count()).toBe(10);
  });

  it('overview: has the figures without a grouping that cannot be, and says so', async () => {
    const panel = await open('overview', '?group.by=a,,b');
    await panel.getByRole('alert').getByText('what to group by must be one of').waitFor();
    await panel.locator('#section-routes').getByText('GET /orders').first().waitFor();
  });

  it('overview: sorts the routes by a figure', async () => {
    const panel = await open('overview');
    await panel.getByRole('button', { name: 'p95' }).click();
    const first = panel.locator('#section-routes').locator('tbody tr').first();
    expect(await textOf(first)).toMatch(/^GET \/orders/);
    expect(await panel.locator('[aria-sort=descending]').textContent()).toBe('p95 ↓');
  });

  it('overview: has the figures of the command, and of a selected range only', async () => {
    const panel = await open('overview');
    await panel.getByText('GET /orders').first().waitFor();
    const rows = await panel.locator('#section-routes').locator('tbody tr').allTextContents();
    // Some 4 of 6 ms are the query's.
    expect(rows[0]).toMatch(/SELECT 6\d\.\d %, own time 3\d\.\d %$/);
    expect(rows.map((row) => row.replaceAll(',', ''))).toEqual([
      // The spans are of January; the recording lasts until its process ended, today.
      expect.stringMatching(/^GET \/stockshop< 0\.01\/s400/),
      expect.stringMatching(/^GET \/ordersshop< 0\.01\/s200/),
    ]);
    const report = await open('overview', '?rangeFrom=0&rangeTo=995000000');
    await report.getByText('GET /orders').first().waitFor();
    const part = await report.locator('#section-routes').locator('tbody tr').allTextContents();
    expect(part[1]).toMatch(/^GET \/ordersshop68\.3\/s68/);
  });

  it('overview: is of the time of day that one types, and of no other text', async () => {
    const panel = await open('overview');
    const field = opened.page.getByLabel('Go to a time of day, UTC');
    await field.fill('03:04:05 03:04:06.1');
    await field.press('Enter');
    await opened.page.getByText('03:04:05 UTC, 1 s').waitFor();
    await panel.getByText(/^\d+ spans in \d+ traces in 1 s, from/).waitFor();
    for (const text of ['2026-01-02 03:04:07.1', '2026-01-02T05:04:07.1+02:00']) {
      await field.fill(text);
      await field.press('Enter');
      await opened.page.getByText('03:04:05 UTC, 7 s').waitFor();
      await opened.page.getByRole('button', { name: 'Clear range' }).click();
    }
    await field.fill('soon');
    await field.press('Enter');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
  });

  it.each(['overview', 'compare'])('%s: groups by the values of an attribute', async (name) => {
    const panel = await open(name);
    const field = panel.getByRole('combobox', { name: 'Group by' });
    await field.fill('attribute.user');
    await field.press('Enter');
    const rows = panel.locator('tbody tr');
    await rows.filter({ hasText: 'u7' }).first().waitFor();
    const users = await rows
      .filter({ hasText: /^u\d/ })
      .evaluateAll((all) => all.map((row) => row.firstElementChild!.textContent));
    expect(users.toSorted()).toEqual(Array.from({ length: 10 }, (_, at) => `u${at}`));
    if (name === 'overview') {
      await rows.getByRole('link', { name: 'u7' }).first().click();
      await opened.page.locator('#view-route').waitFor();
      await opened.page.goBack();
    }
    await field.fill('rout');
    await field.press('Enter');
    const alert = field.locator('xpath=..').getByRole('alert');
    await alert.getByText('did you mean "route"?').waitFor();
    expect(await rows.filter({ hasText: /^u\d/ }).count()).toBe(10);
    // A list, as `--by` takes it.
    await field.fill('attribute.user, attribute.none,');
    await field.press('Enter');
    await alert.waitFor({ state: 'detached' });
    await rows.filter({ hasText: 'u7' }).first().waitFor();
    await panel.getByRole('button', { name: 'As before' }).click();
    await rows.filter({ hasText: 'GET /orders' }).first().waitFor();
  });

  it('overview: has the causes of failure, and links to the spans that failed', async () => {
    const panel = await open('overview');
    const causes = panel.locator('#section-errors table');
    await causes.waitFor();
    expect(await causes.locator('caption').textContent()).toContain(' of shop');
    expect(await causes.locator('tbody tr').allTextContents()).toEqual([
      expect.stringMatching(/^6Error: "no".*[\da-f]{8}$/),
    ]);
    await causes.getByTitle('Show the spans that failed').click();
    await opened.page.locator('#view-find').getByText('6 spans that match').waitFor();
  });

  it('compare: says which spans became slower, and which did not', async () => {
    const panel = await open('compare');
    await panel.getByRole('link', { name: 'GET /orders' }).waitFor();
    const rowsOf = (title: string): Promise<string[]> =>
      panel.getByRole('table', { name: title, exact: true }).locator('tbody tr').allTextContents();
    expect(await rowsOf('Slower')).toEqual([
      expect.stringMatching(/^GET \/orders.*shop4[78] % slower \(4\d % to 4\d %\)/),
      expect.stringMatching(/^SELECT/),
    ]);
    expect(await rowsOf('About the same: within chance, or less than 5 %')).toEqual([
      expect.stringMatching(/^GET \/stock/),
    ]);
    const judged = panel
      .locator('tbody tr', { hasText: 'GET /orders' })
      .locator('.good, .bad')
      .first();
    expect(await judged.getAttribute('class')).toContain('bad');
    const turned = await open('compare', '?compare.before=after&compare.after=before');
    await turned.getByRole('table', { name: 'Faster' }).waitFor();
    const better = turned
      .locator('tbody tr', { hasText: 'GET /orders' })
      .locator('.good, .bad')
      .first();
    expect(await better.getAttribute('class')).toContain('good');
    expect(await textOf(better)).toMatch(/^3\d % faster/);
  });

  it('compare: takes the earlier one of a directory as the one before', async () => {
    const view = await traces.start([join(traces.directory, 'runs')]);
    const { page } = (opened = await traces.open({}, '/overview', view));
    await page.getByRole('button', { name: 'Compare before with after' }).click();
    await page
      .getByText(
        'of 3 kinds of spans became slower, GET /orders the most; 0 became faster; 1 took about the same.',
      )
      .waitFor();
    const sides = page.locator('#view-compare details');
    expect(await sides.locator('summary').allInnerTexts()).toEqual([
      expect.stringMatching(/^Before: before/),
      expect.stringMatching(/^After: after/),
    ]);
    await sides.nth(1).locator('summary').click();
    await sides
      .nth(1)
      .getByRole('checkbox', { name: /^after/ })
      .click();
    await page.getByText('Choose recordings for both sides').waitFor();
    await sides
      .nth(1)
      .getByRole('checkbox', { name: /^before/ })
      .click();
    await page.getByText('A recording is on both sides').waitFor();
  });

  it.each([
    ['light', 360, 740],
    ['dark', 360, 740],
    ['light', 1280, 800],
    ['dark', 1280, 800],
    ['light', 3840, 2160],
    ['dark', 3840, 2160],
  ])('has nothing serious against axe-core, %s, %d pixels wide', async (theme, width, height) => {
    const source = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
    await open('time-line', '?row=0', { dark: theme === 'dark', width, height });
    const { page, complaints } = opened;
    await page.evaluate(source);
    for (const title of TITLES) {
      await page.getByRole('link', { name: title, exact: true }).click();
      await page.locator('.view').getByText('Reading').waitFor({ state: 'detached' });
      expect(await page.evaluate(seriousFaults), title).toEqual([]);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(beyond, title).toBeLessThanOrEqual(0);
    }
    expect(complaints).toEqual([]);
  });
});

/** Runs in the browser. @returns the rows that are shown after two frames. */
async function scrollTo(grid: Element, top: number): Promise<string[]> {
  grid.scrollTop = top;
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const rows = grid.querySelectorAll('.grid-body [role=row]');
  return Array.from(rows, (row) => row.getAttribute('aria-rowindex') ?? '');
}

/** Runs in the browser. */
async function seriousFaults(): Promise<string[]> {
  interface Axe {
    run(): Promise<{
      violations: { id: string; impact: string; nodes: { html: string }[] }[];
    }>;
  }
  const { axe } = window as unknown as { axe: Axe };
  const { violations } = await axe.run();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' ')}`);
}
