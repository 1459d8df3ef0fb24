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
  recordRun(join(directory, 'before'), 1),
  recordRun(join(directory, 'after'), 1.5),
]);
let opened: OpenPage;

/** A service with 300 requests, every third of orders; those take `factor` times their 6 ms. */
function recordRun(directory: string, factor: number): string {
  mkdirSync(directory);
  const spans = pathToFileURL(join(dirname(main), '../spans/index.mjs')).href;
  const program = `
    import { configure, shutdown, startSpan } from ${JSON.stringify(spans)};
    configure({ target: process.argv[1], service: 'shop' });
    const at = (ms) => 1767323045000 + ms;
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
  const args = ['--input-type=module', '-e', program, join(directory, 'shop.heph')];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  return directory;
}

async function open(panel: string, fragment = '', options?: PageOptions): Promise<Locator> {
  opened = await traces.open(options, `/time-line?panel=${panel}${fragment}`);
  return opened.page.locator(`#panel-${panel}`);
}

const TITLES = ['Trace', 'Find', 'Table', 'Report', 'Latency', 'Compare', 'Recording'];

/** The URL follows after 250 ms of the page's own time. */
function untilUrlFollows(): Promise<void> {
  return opened.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 350)));
}

/** A number of the URL. */
async function fieldOf(name: string): Promise<number> {
  const hash = await opened.page.evaluate(() => location.hash);
  return Number(new URLSearchParams(hash.split('?')[1]).get(name));
}

const textOf = async (place: Locator): Promise<string> => (await place.textContent()) ?? '';

describe.skipIf(noBrowser !== undefined)(titleOf('the panels'), () => {
  it('find: counts the matches, lights them and steps through them', async () => {
    const panel = await open('find');
    const { page, boxes } = opened;
    await page.keyboard.type('status=error');
    await panel.getByText('6 match').waitFor();
    await page.keyboard.press('Enter');
    await panel.getByText('6 match, this is number 1.').waitFor();
    const first = new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('row');
    await page.keyboard.press('Enter');
    await panel.getByText('this is number 2.').waitFor();
    await untilUrlFollows();
    const fields = new URLSearchParams(new URL(page.url()).hash.split('?')[1]);
    expect(fields.get('find.text')).toBe('status=error');
    expect(fields.get('row')).not.toBe(first);
    expect((await boxes()).some(({ row }) => row === Number(fields.get('row')))).toBe(true);
  });

  it('find: Enter goes to a match of the text that was typed, not of an older one', async () => {
    const panel = await open('find', '/time-line?find.text=GET');
    await panel.getByText('600 match').waitFor();
    const field = panel.getByRole('combobox', { name: 'Spans that match' });
    await field.fill('status=error');
    await field.press('Enter');
    await panel.getByText('6 match, this is number 1.').waitFor();
  });

  it('find: says what is wrong with a text', async () => {
    const panel = await open('find', '/time-line?find.text=status%3Dsad');
    await panel.getByRole('alert').waitFor();
    expect(await textOf(panel.getByRole('alert'))).toContain('one of unset, ok, error');
  });

  it('table: shows the longest first, sorts by another column, and chooses by keyboard', async () => {
    const panel = await open('table', '/time-line?find.text=user%3Du3');
    await panel.getByText('60 spans that match').waitFor();
    const durations = await panel.locator('.grid-body [role=row]').allTextContents();
    expect(durations[0]).toMatch(/9\.6 msGET \/orders/);
    await panel.getByRole('button', { name: 'Name' }).click();
    await panel.getByRole('button', { name: 'Name ↑' }).waitFor();
    await panel.locator('.grid-body [role=row]').first().getByText('GET /orders').waitFor();
    await panel.getByRole('grid').focus();
    await opened.page.keyboard.press('End');
    await opened.page.keyboard.press('Enter');
    await panel.locator('[aria-selected=true]').getByText('GET /stock').waitFor();
    await expect.poll(() => opened.page.url()).toMatch(/row=\d+/);
  });

  it('table: has every row, however far one scrolls', async () => {
    const panel = await open('table', '/time-line?table.sort=start&table.order=ascending');
    await panel.getByText('1,200 spans').waitFor();
    const grid = panel.getByRole('grid');
    const seen = new Set<string>();
    const height = await grid.evaluate((box) => box.scrollHeight);
    for (let top = 0; top <= height; top += 200) {
      for (const row of await grid.evaluate(scrollTo, top)) seen.add(row);
    }
    expect(seen.size).toBe(4 * REQUESTS);
  });

  it('latency: a brushed part chooses its spans', async () => {
    const panel = await open('latency', '/time-line?find.text=name%3DGET*');
    await panel.getByText('Drag over a part').waitFor();
    const map = panel.locator('canvas');
    const box = (await map.boundingBox())!;
    const { mouse } = opened.page;
    await mouse.move(box.x + 65, box.y + 1);
    await panel.getByText('p95').nth(1).waitFor();
    const figures = await textOf(panel.locator('p.quiet'));
    await mouse.down();
    await mouse.move(box.x + (box.width - 64 - 120) / 2 + 64, box.y + box.height - 22);
    const words = await textOf(panel.locator('#latency-words'));
    await mouse.up();
    await panel.getByText('Clear range').waitFor();
    expect(words).toMatch(/^\d+ spans of .* to .*, from /);
    await opened.page.keyboard.press('t');
    const count = Number(words.split(' ')[0]);
    expect(figures).toMatch(/^0.*: \d+ spans, \d+ failed \([\d.]+ %\), p50 .* p95 .* p99 /);
    await opened.page.getByText(`${count} spans that match`).waitFor();
  });

  it('latency: says errors and percentiles of each moment', async () => {
    const panel = await open('latency', '/time-line?find.text=SELECT');
    await panel.getByText('Drag over a part').waitFor();
    const box = (await panel.locator('canvas').boundingBox())!;
    let [spans, failed] = [0, 0];
    const seen = new Set<string>();
    for (let x = box.x + 65; x < box.x + box.width - 120; x += (box.width - 184) / 320) {
      await opened.page.mouse.move(x, box.y + 20);
      const words = await textOf(panel.locator('p.quiet'));
      if (seen.has(words)) continue;
      seen.add(words);
      const found =
        /: (\d+) spans, (\d+) failed \(([\d.]+) %\), p50 (.*) ms, p95 (.*) ms, p99 (.*) ms$/.exec(
          words,
        );
      if (found === null) continue;
      const [count, errors, share, p50, p95, p99] = found.slice(1).map(Number);
      spans += count!;
      failed += errors!;
      expect(share).toBeCloseTo((100 * errors!) / count!, 0);
      // A query takes 2 ms less than its request.
      expect(p50).toBeGreaterThan(3.9);
      expect(p95).toBeGreaterThanOrEqual(p50!);
      expect(p99).toBeGreaterThanOrEqual(p95!);
      expect(p99).toBeLessThan(7.7);
    }
    expect([spans, failed]).toEqual([2 * REQUESTS, 6]);
  });

  it('report: says the total of each group', async () => {
    const panel = await open('report', '&group.by=attribute.user');
    const table = panel.locator('.figures').first();
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

  it('trace: shows the tree of the selected span with its critical path', async () => {
    const panel = await open('trace', '/time-line?row=0');
    await panel.locator('.waterfall tbody tr').nth(1).waitFor();
    expect(await panel.locator('.waterfall tbody tr').count()).toBe(2);
    expect(await panel.locator('.critical').count()).toBe(2);
    await panel.getByRole('button', { name: 'SELECT' }).click();
    await untilUrlFollows();
    expect(opened.page.url()).toMatch(/row=[1-9]/);
  });

  it('report: is there at once, unless it was closed or there is no room', async () => {
    opened = await traces.open();
    await opened.page.locator('#view-overview').getByText('GET /orders').first().waitFor();
    await opened.page.getByRole('button', { name: 'Close the panel' }).click();
    await untilUrlFollows();
    expect(opened.page.url()).toContain('panel=none');
    expect(await opened.page.locator('.panel').count()).toBe(0);
    const { page } = await traces.open({ width: 360, height: 640 });
    expect(await page.locator('.panel').count()).toBe(0);
  });

  it('report: sorts the routes by a figure', async () => {
    const panel = await open('report');
    await panel.getByRole('button', { name: 'p95' }).click();
    const first = panel.locator('.figures').first().locator('tbody tr').first();
    expect(await textOf(first)).toMatch(/^GET \/orders/);
    expect(await panel.locator('[aria-sort=descending]').textContent()).toBe('p95 ↓');
  });

  it('report: has the figures of the command, and of a selected range only', async () => {
    const panel = await open('report');
    await panel.getByText('GET /orders').first().waitFor();
    const rows = await panel.locator('.figures').first().locator('tbody tr').allTextContents();
    // Some 4 of 6 ms are the query's.
    expect(rows[0]).toMatch(/SELECT 6\d\.\d %, own time 3\d\.\d %$/);
    expect(rows.map((row) => row.replaceAll(',', ''))).toEqual([
      expect.stringMatching(/^GET \/stockservershop400/),
      expect.stringMatching(/^GET \/ordersservershop200/),
    ]);
    const report = await open('report', '/time-line?rangeFrom=0&rangeTo=995000000');
    await report.getByText('GET /orders').first().waitFor();
    const part = await report.locator('.figures').first().locator('tbody tr').allTextContents();
    expect(part[1]).toMatch(/^GET \/ordersservershop68/);
  });

  it.each(['report', 'compare'])('%s: groups by the values of an attribute', async (name) => {
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
    if (name === 'report') {
      await rows.getByRole('button', { name: 'u7' }).first().click();
      await panel.locator('.choice-line code').getByText('user=u7').waitFor();
      await panel.getByRole('button', { name: 'Clear search' }).click();
    }
    await field.fill('rout');
    await field.press('Enter');
    await panel.getByText('did you mean "route"?').waitFor();
    await panel.getByRole('button', { name: 'As before' }).click();
    await rows.filter({ hasText: 'GET /orders' }).first().waitFor();
  });

  it('report: a slow trace fills the time line, and there is a way back', async () => {
    const panel = await open('report', '/time-line?from=1000000&to=2000000000');
    const { page } = opened;
    await panel.locator('[title="Show its trace"]').first().click();
    await page.locator('#view-trace .waterfall').waitFor();
    await expect.poll(() => fieldOf('to')).not.toBe(2_000_000_000);
    // The slowest takes 9.6 ms, which is 0.8 of the window.
    expect((await fieldOf('to')) - (await fieldOf('from'))).toBeCloseTo(9.6e6 / 0.8, -5);
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await expect.poll(() => fieldOf('to')).toBe(2_000_000_000);
    expect(await page.getByRole('button', { name: 'Back', exact: true }).count()).toBe(0);
  });

  it('report: has the types of errors, and links to the spans that failed', async () => {
    const panel = await open('report');
    const types = panel.locator('table', { hasText: 'Errors by type' });
    await types.waitFor();
    expect(await types.locator('tbody tr').allTextContents()).toEqual([
      expect.stringMatching(/^Errorno\S+SELECTshop6.* UTC.* UTC[\da-f]{32}$/),
    ]);
    await types.getByTitle('Show the spans that failed').click();
    const { page } = opened;
    await page.locator('#view-find').getByText('6 spans that match').waitFor();
    const other = await open('report', '/time-line?find.text=SELECT');
    await other.locator('.figures').first().getByTitle('Show the spans that failed').click();
    await opened.page.locator('#view-find').getByText('6 spans that match').waitFor();
  });

  it('compare: says which spans became slower, and which did not', async () => {
    const panel = await open('compare');
    await panel.getByRole('button', { name: 'GET /orders' }).waitFor();
    const groups = panel.locator('table', { hasText: 'A typical span' });
    const rows = await groups.locator('tbody tr').allTextContents();
    expect(rows[0]).toMatch(/^GET \/orders.*shop4[78] % slower \(4\d % to 4\d %\)/);
    expect(rows.find((row) => row.startsWith('GET /stock'))).toContain('about the same');
  });

  it('compare: takes the earlier one of a directory as the one before', async () => {
    const view = await traces.start([traces.directory]);
    const { page } = (opened = await traces.open({}, '/time-line', view));
    await page.getByRole('button', { name: 'Compare before with after' }).click();
    await page
      .getByText(
        'of 3 kinds of spans became slower, GET /orders the most; 0 became faster; 1 took about the same.',
      )
      .waitFor();
    const sides = page.locator('#view-compare fieldset');
    const chosenIn = (side: number): Promise<string[]> =>
      sides.nth(side).locator('label:has(:checked)').allInnerTexts();
    expect(await chosenIn(0)).toEqual([expect.stringMatching(/^before/)]);
    expect(await chosenIn(1)).toEqual([expect.stringMatching(/^after/)]);
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
    await open('details', '/time-line?row=0', { dark: theme === 'dark', width, height });
    const { page, complaints } = opened;
    await page.evaluate(source);
    for (const title of TITLES) {
      await page.getByRole('button', { name: title, exact: true }).click();
      await page.locator('.panel').getByText('Reading').waitFor({ state: 'detached' });
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
