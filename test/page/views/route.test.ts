import { describe, expect, it } from 'vitest';
import type { Report } from '../../../src/look/report/shape/report-shape.js';
import { calleeTable } from '../../../src/look/report/print/tables/callee-table.js';
import { cellText } from '../../../src/look/report/print/tables/report-table.js';
import { waitName } from '../../../src/look/report/print/report-texts.js';
import { durationText, shareText, timeText } from '../../../src/look/report/measures/units.js';
import { configure, shutdown, startSpan } from '../../../src/spans/index.js';
import { tracewright } from '../../cli/run-command.js';
import { axeFindings } from '../accessibility.js';
import { noBrowser, titleOf } from '../browser.js';
import { BEGIN } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

const at = (ms: number): bigint => BigInt(BEGIN) * 1_000_000n + BigInt(Math.round(ms * 1e6));
const WHERE = ['name=GET /cart', 'kind=server'];

/** Carts with two queries each; the slowest of those that do not fail is blocked. */
const traces = new ViewedTraces(async (directory) => {
  const path = `${directory}/shop.heph`;
  configure({ target: path, service: 'shop' });
  for (let request = 0; request < 40; request++) {
    const start = request * 300;
    const length = 10 + request;
    const options = { startTime: at(start), parent: null, kind: 'server' } as const;
    const cart = startSpan('GET /cart', {}, options);
    for (const [name, from, to] of [
      ['SELECT carts', 1, 3],
      ['SELECT products', 3, 0.6 * length],
    ] as const) {
      const call = { startTime: at(start + from), parent: cart, kind: 'client' } as const;
      startSpan(name, {}, call).end(at(start + to));
    }
    if (request === 39) {
      const stall = startSpan(
        'event loop blocked',
        {},
        { startTime: at(start + 30), parent: null },
      );
      stall.end(at(start + 48));
    }
    if (request === 20) cart.fail(new RangeError('no cart'));
    cart.end(at(start + length));
  }
  startSpan('GET /health', {}, { startTime: at(0), parent: null, kind: 'server' }).end(at(1));
  await shutdown();
  return [path];
});

/** Purchases of a minute, of which every third fails: only the span within says why. */
const failing = new ViewedTraces(async (directory) => {
  const path = `${directory}/failing.heph`;
  configure({ target: path, service: 'shop' });
  for (let second = 0; second < 60; second++) {
    const start = 1000 * second;
    const options = { startTime: at(start), parent: null, kind: 'server' } as const;
    const buy = startSpan('POST /buy', {}, options);
    const handle = startSpan('handle', {}, { startTime: at(start), parent: buy });
    if (second % 3 === 0) {
      handle.fail(new RangeError(`no stock of ${second}`));
      buy.set('error.type', '500').fail();
    }
    handle.end(at(start + 5));
    buy.end(at(start + 6));
  }
  await shutdown();
  return [path];
});

describe.skipIf(noBrowser !== undefined)(titleOf('a route that fails'), () => {
  const cause = /^20RangeError: "no stock of \?".*route\.test\.ts:\d+\)?POST \/buy 20[\da-f]{8}$/;

  it('has the causes of the Overview, each with the requests that it says', async () => {
    const { page } = await failing.open({}, '/overview');
    const causes = page.locator('#section-errors tbody tr');
    await causes.waitFor();
    const [shown] = await causes.allTextContents();
    expect(shown).toMatch(cause);
    await page.locator('#section-routes').getByRole('link', { name: 'POST /buy' }).click();
    const own = page.locator('.route table', { hasText: 'Causes of failure' });
    await own.waitFor();
    expect(await own.locator('tbody tr').allTextContents()).toEqual([shown]);
    await own.getByRole('link', { name: '20' }).click();
    await page.locator('#view-find').getByText('20 spans that match').waitFor();
  });

  it('is led to its causes by the finding, wherever those are', async () => {
    const { page } = await failing.open({ width: 1920, height: 500 }, '/overview');
    await page.locator('.findings').getByRole('button', { name: 'errors' }).click();
    const section = page.locator('#section-errors');
    await expect.poll(() => section.evaluate((each) => each === document.activeElement)).toBe(true);
    expect(await section.evaluate((each) => each.getAnimations().length)).toBe(1);
    await expect
      .poll(() => section.evaluate((each) => each.getBoundingClientRect().bottom <= innerHeight))
      .toBe(true);
  });
});

const ADDRESS = `/route?name=GET+%2Fcart&where=${encodeURIComponent('name="GET /cart" kind=server')}`;

describe.skipIf(noBrowser !== undefined)(titleOf('the view of one route'), () => {
  it('has the figures of the command', async () => {
    const where = WHERE.flatMap((term) => ['--where', term]);
    const { stdout } = tracewright('report', traces.directory, '--json', ...where);
    const report = JSON.parse(stdout) as Report;
    const group = report.groups[0]!;
    const { page, complaints } = await traces.open({}, ADDRESS);
    const parts = page.locator('.parts tbody tr');
    await parts.first().waitFor();
    const figures = await page.locator('.route > .waited').innerText();
    const percentiles = [group.p50, group.p95, group.p99, group.max].map(durationText);
    expect(figures).toMatch(/^40 spans · .* · 1 failed · /);
    expect(figures.match(/[\d.]+ [µm]?s(?= ·|$)/g)).toEqual(percentiles);
    const mean = group.total / group.count;
    const cells = await Promise.all(
      (await parts.all()).map((row) => row.locator('th, td.number').allInnerTexts()),
    );
    expect(cells).toEqual(
      group.waitedFor.map((each) => [
        waitName(each, 'shop'),
        durationText(each.share * mean),
        shareText(each.share),
      ]),
    );
    const callees = calleeTable(report);
    const table = page.locator('table', { hasText: 'What one request calls' });
    const rows = await Promise.all(
      (await table.locator('tbody tr').all()).map((row) => row.locator('th, td').allInnerTexts()),
    );
    expect(rows).toEqual(
      callees.rows.map((row) => callees.columns.map((column) => cellText(column, row))),
    );
    expect(rows).toHaveLength(2);
    // The axis counts from a time that a log has, and a column says its own.
    const begin = timeText(report.from).slice(11);
    await page.getByText(`To the right: time since ${begin}.`).waitFor();
    await page.locator('.latency-map').focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText(/^[\d.]+ m?s, \d\d:\d\d:\d\d\.\d{3} UTC: /).waitFor();
    expect(complaints).toEqual([]);
  });

  it('draws the spans that its requests led through, whose widths are their time', async () => {
    const { page } = await traces.open({}, ADDRESS);
    const nodes = page.locator('.flame-node');
    await nodes.first().waitFor();
    expect(await nodes.allInnerTexts()).toEqual([
      'GET /cart',
      'SELECT products',
      'SELECT carts',
      'event loop blocked',
    ]);
    const widths = await nodes.evaluateAll((all) =>
      all.map((node) => node.getBoundingClientRect().width),
    );
    const shares = await page.locator('.parts td.number:nth-child(3)').allInnerTexts();
    const texts = await page.locator('.parts th').allInnerTexts();
    for (const [at, name] of ['SELECT products', 'SELECT carts'].entries()) {
      const share = Number.parseFloat(shares[texts.indexOf(name)]!);
      expect((100 * widths[at + 1]!) / widths[0]!).toBeCloseTo(share, 0);
    }
    await page.getByRole('tree').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const own = await nodes.nth(1).evaluate((node) => node.getBoundingClientRect().width);
    expect(own).toBeCloseTo(widths[0]!, 0);
  });

  it.each([
    ['Slowest', '49 ms'],
    ['Slowest, loop not blocked', '48 ms'],
    ['Typical', '29 ms'],
    ['Last failed', '30 ms'],
  ])('leads to an example: %s', async (what, duration) => {
    const { page } = await traces.open({}, ADDRESS);
    const item = page.locator('.examples li', { hasText: `${what}: ` }).first();
    await item.getByRole('link', { name: duration, exact: true }).click();
    await page.locator('.trace-head h2', { hasText: duration }).waitFor();
  });

  it('looks at those that failed, and says where there are none', async () => {
    const { page } = await traces.open({}, ADDRESS);
    await page.locator('.parts').waitFor();
    await page.getByRole('button', { name: 'failed', exact: true }).click();
    await page.locator('.route > .waited', { hasText: '1 span · ' }).waitFor();
    const none = ADDRESS.replaceAll('cart', 'health');
    const { page: other } = await traces.open({}, none);
    await other.locator('.parts').waitFor();
    await other.getByRole('button', { name: 'failed', exact: true }).click();
    await other.getByText('None of its spans failed.').waitFor();
  });

  it('asks for a route: it never mixes several', async () => {
    const { page } = await traces.open({}, '/route');
    await page.getByRole('link', { name: 'GET /cart' }).click();
    await page.locator('.route h2', { hasText: 'GET /cart · shop' }).waitFor();
    await page.locator('.parts').waitFor();
  });

  it.each([
    ['light', 800, 600],
    ['dark', 2560, 1300],
  ] as const)('has nothing against axe-core, %s, %d pixels wide', async (theme, width, height) => {
    const dark = theme === 'dark';
    const { page } = await traces.open({ width, height, dark }, ADDRESS);
    await page.locator('.parts').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
