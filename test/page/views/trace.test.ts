import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configure, extract, shutdown, startSpan } from '../../../src/spans/index.js';
import type { SpanIds } from '../../../src/spans/index.js';
import type { SlowTrace, TreeRow } from '../../../src/look/report/shape/trace-shape.js';
import { nameWithTarget } from '../../../src/look/report/names/request-name.js';
import { durationText, timeText } from '../../../src/look/report/measures/units.js';
import { HELD } from '../../../src/look/report/trees/pool-holder.js';
import { waitedText } from '../../../src/look/report/print/report-texts.js';
import type { Locator, Page } from 'playwright-core';
import { main, tracewright } from '../../cli/run-command.js';
import { axeFindings } from '../accessibility.js';
import { noBrowser, titleOf } from '../browser.js';
import { BEGIN } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

const spansModule = pathToFileURL(join(dirname(main), '../spans/index.mjs')).href;
const at = (ms: number): bigint => BigInt(BEGIN) * 1_000_000n + BigInt(ms * 1e6);
/** Of a process whose trace is not there. */
const ELSEWHERE = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
let ids: SpanIds;
let many: SpanIds;
let orphan: SpanIds;

/** Exits with a request open, and a query in it. */
const KILLED = `
  import { configure, startSpan } from ${JSON.stringify(spansModule)};
  configure({ target: process.argv[1], service: 'killed' });
  const start = ${BEGIN + 100};
  const get = startSpan('GET', { 'url.path': '/export/22' },
    { startTime: start, parent: null, kind: 'server' });
  startSpan('SELECT', {}, { startTime: start + 1, parent: get, kind: 'client' });
  process.exit();`;

/** A request from a shop to a stock on another host, whose clock is 3 ms late. */
const traces = new ViewedTraces(async (directory) => {
  const shop = join(directory, 'shop.heph');
  configure({ target: shop, service: 'shop', resource: { 'host.name': 'host-a' } });
  const order = startSpan('GET /order', {}, { startTime: at(0), parent: null, kind: 'server' });
  ids = order.ids;
  const ask = startSpan('ask', {}, { startTime: at(1), parent: order, kind: 'client' });
  const { trace_id, span_id } = ask.ids;
  const headers = { traceparent: `00-${trace_id}-${span_id}-01` };
  ask.end(at(8));
  order.end(at(10));
  const cart = startSpan('GET /cart', {}, { startTime: at(40), parent: null, kind: 'server' });
  many = cart.ids;
  for (let item = 0; item < 40; item++) {
    const options = { startTime: at(41 + 2 * item), parent: cart, kind: 'client' } as const;
    const query = startSpan('SELECT products', {}, options);
    startSpan('parse', {}, { startTime: at(41.5 + 2 * item), parent: query }).end(
      at(42 + 2 * item),
    );
    query.end(at(42.5 + 2 * item));
  }
  // Within the last query of the cart's thread, and not of its requests.
  const kept = startSpan('event loop blocked', {}, { startTime: at(60), parent: null });
  kept.end(at(75));
  const prices = startSpan('SELECT prices', {}, { startTime: at(125), parent: cart });
  prices.fail(new RangeError('no price'));
  prices.end(at(126));
  cart.end(at(130));
  const lost = startSpan('GET /lost', {}, { startTime: at(20), parent: extract(ELSEWHERE)! });
  orphan = lost.ids;
  const links = [{ to: order, attributes: { [HELD]: 12e6 } }];
  const pool = startSpan('postgresql pool', {}, { startTime: at(20), parent: lost, links });
  pool.end(at(20.5));
  lost.end(at(21));
  await shutdown();

  const stock = join(directory, 'stock.heph');
  configure({ target: stock, service: 'stock', resource: { 'host.name': 'host-b' } });
  // Of the shop's clock from 0.5 to 1.5 ms, so for half a millisecond of the way to the request.
  const stall = startSpan('event loop blocked', {}, { startTime: at(-3.5), parent: null });
  stall.end(at(-2.5));
  const look = startSpan(
    'GET /stock',
    {},
    { startTime: at(-2), parent: extract(headers)!, kind: 'server' },
  );
  startSpan('SELECT', {}, { startTime: at(-1), parent: look }).end(at(2));
  look.fail(new Error('none left'));
  look.end(at(3));
  await shutdown();

  const killed = join(directory, 'killed.heph');
  execFileSync(process.execPath, ['--input-type=module', '-e', KILLED, killed], {
    stdio: 'inherit',
  });
  return [shop, stock, killed];
});

/** In their order: the first host's clock is that of all. */
function paths(): string[] {
  return ['shop', 'stock', 'killed'].map((name) => join(traces.directory, `${name}.heph`));
}

/** The texts of the rows that are shown: name, service, duration, self, waited. */
async function rowsOf(page: Page): Promise<string[][]> {
  const rows = page.locator('.waterfall-body .span-row');
  await rows.first().waitFor();
  const cells = (row: Locator): Promise<string[]> =>
    row.locator('[role=gridcell]:not(.bars)').allInnerTexts();
  const all = await Promise.all((await rows.all()).map(cells));
  return all.map((row) => row.map((text) => text.replace(/\s+/g, ' ').trim()));
}

/** What the page shows of a row of the command. */
function shownAs(row: TreeRow): string[] {
  const { repeated, service, duration, self, waited, status } = row;
  const name = `${repeated > 1 ? `${repeated} × ` : ''}${nameWithTarget(row)}`;
  const time = (ns: number): string => (ns > 0 ? durationText(ns) : '');
  return [
    `${name}${status === 'error' ? ' failed' : ''}`,
    service ?? '',
    durationText(duration),
    time(self),
    time(waited),
  ];
}

describe.skipIf(noBrowser !== undefined)(titleOf('the view of one trace'), () => {
  it.each([
    ['across hosts', () => ids],
    ['with equal siblings', () => many],
  ])('has the rows and figures of the command, of a trace %s', async (_, idsOf) => {
    const { trace_id: id } = idsOf();
    const { stdout } = tracewright('trace', id, ...paths(), '--json');
    const trace = JSON.parse(stdout) as SlowTrace;
    const { page } = await traces.open({ width: 1600 }, `/trace/${id.slice(0, 12)}`);
    const rows = await rowsOf(page);
    expect(rows.map((row) => row.map((text) => text.replace(/ on host-\w$/, '')))).toEqual(
      trace.rows.map(shownAs),
    );
    const head = page.locator('.trace-head');
    expect(await head.locator('h2').innerText()).toContain(durationText(trace.duration));
    expect(await head.locator('.waited').innerText()).toBe(waitedText(trace));
    expect(await head.locator('p').first().innerText()).toContain(timeText(trace.start));
    const start = page.locator('.details-side tr', { hasText: /^start/ });
    expect(await start.innerText()).toContain(timeText(trace.start));
    if (trace.rows.some(({ repeated }) => repeated > 1)) {
      expect(rows).toContainEqual(expect.arrayContaining(['40 × SELECT products']));
    }
  });

  it('says across hosts how far clocks differ, and marks what failed and what was waited for', async () => {
    const { page } = await traces.open({}, `/trace/${ids.trace_id}`);
    await rowsOf(page);
    const head = await page.locator('.trace-head').innerText();
    expect(head).toMatch(/The times of stock on host-b are moved by 4 ms, right within 1 ms\./);
    expect(head).toMatch(/failed in stock: Error at .*trace\.test\.ts:\d+: "none left"/);
    expect(await page.locator('.stretch.critical').count()).toBeGreaterThanOrEqual(2);
    expect(await page.locator('.stretch.failed').count()).toBe(1);
  });

  it('draws what kept the thread of a span on its bar', async () => {
    const { page } = await traces.open({}, `/trace/${many.trace_id}`);
    await rowsOf(page);
    const pause = page.locator('.span-row').nth(1).locator('.stretch.pause');
    expect(await pause.getAttribute('title')).toBe('loop blocked 15 ms');
    // So do equal siblings that one row is for.
    const folded = page.locator('.span-row', { hasText: '40 × SELECT products' });
    const titles = await folded
      .locator('.stretch.pause')
      .evaluateAll((all) => all.map((each) => each.getAttribute('title')));
    expect(titles).toEqual([
      'loop blocked 500 µs',
      ...Array<string>(7).fill('loop blocked 1.5 ms'),
    ]);
  });

  it('unfolds equal siblings by keyboard, and shows the details of the selected span', async () => {
    const { page, complaints } = await traces.open({}, `/trace/${many.trace_id}`);
    const closed = await rowsOf(page);
    await page.getByRole('treegrid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page
      .getByRole('row', { name: /^parse/ })
      .first()
      .waitFor();
    expect((await rowsOf(page)).length).toBeGreaterThan(closed.length);
    await page.keyboard.press('ArrowRight');
    await page.locator('.details-side').getByRole('heading', { name: 'SELECT products' }).waitFor();
    // Folds the span, goes up, folds its siblings.
    for (let times = 0; times < 3; times++) await page.keyboard.press('ArrowLeft');
    expect(await rowsOf(page)).toEqual(closed);
    await page.keyboard.press('End');
    const details = page.locator('.details-side');
    await details.getByRole('heading', { name: 'SELECT prices' }).waitFor();
    expect(await details.locator('tr').first().locator('pre').innerText()).toContain('RangeError');
    expect(complaints).toEqual([]);
  });

  it('is not dimmed by a search, nor cut by services that are off', async () => {
    const { page } = await traces.open({}, `/trace/${ids.trace_id}?find.text=nothing`);
    const all = await rowsOf(page);
    await page.locator('.scope').getByLabel('stock').uncheck();
    expect(await rowsOf(page)).toEqual(all);
  });

  it('says that a parent is missing, and which trace there is not', async () => {
    const { page } = await traces.open({}, `/trace/${orphan.trace_id}`);
    await page.getByText('The parents of 1 are not in this recording.').waitFor();
    expect((await rowsOf(page)).map(([name]) => name)).toEqual([
      'GET /lost parent missing',
      'postgresql pool held by GET /order',
    ]);
    const { page: other } = await traces.open({}, '/trace/fedcba9876543210');
    await other.getByText('no trace begins with fedcba9876543210').waitFor();
    const { page: none } = await traces.open({}, '/trace');
    await none.getByText('No trace is chosen').waitFor();
  });

  it('has the ids that a log has', async () => {
    const { page } = await traces.open({}, `/trace/${ids.trace_id}`);
    const { trace_id, span_id } = ids;
    await page.getByText(`trace_id=${trace_id} span_id=${span_id}`).waitFor();
  });

  it('leads to the same moment on the time line, and back', async () => {
    const { page } = await traces.open({}, `/trace/${ids.trace_id}`);
    await rowsOf(page);
    await page.getByRole('button', { name: 'The same moment on the time line' }).click();
    await page.locator('#time-line').waitFor();
    await page.goBack();
    expect((await rowsOf(page))[0]![0]).toBe('GET /order');
  });

  it.each([
    ['light', 800, 600],
    ['dark', 2560, 1300],
  ] as const)('has nothing against axe-core, %s, %d pixels wide', async (theme, width, height) => {
    const dark = theme === 'dark';
    const { page } = await traces.open({ width, height, dark }, `/trace/${many.trace_id}`);
    await rowsOf(page);
    await page.locator('.details-side th').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
