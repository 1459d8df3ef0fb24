import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configure, extract, shutdown, startSpan } from '../../../../src/spans/index.js';
import type { SpanIds } from '../../../../src/spans/index.js';
import { main, tracewright } from '../../../cli/run-command.js';
import { noBrowser, titleOf } from '../../browser.js';
import { BEGIN } from '../../recorded-service.js';
import { ViewedTraces } from '../../viewed-traces.js';

const spansModule = pathToFileURL(join(dirname(main), '../spans/index.mjs')).href;
const at = (ms: number): bigint => BigInt(BEGIN) * 1_000_000n + BigInt(ms * 1e6);
/** Of a process whose trace is not there. */
const ELSEWHERE = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
let ids: SpanIds;

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
  const lost = startSpan('GET /lost', {}, { startTime: at(20), parent: extract(ELSEWHERE)! });
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

describe.skipIf(noBrowser !== undefined)(titleOf('the panel of one trace'), () => {
  it('shows the waterfall across hosts, what waited for what, and how far clocks differ', async () => {
    const { page } = await traces.open({}, '/time-line?find.text=order');
    await page.keyboard.press('/');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Trace', exact: true }).click();
    const panel = page.locator('#view-trace');
    await panel.locator('.waterfall tbody tr').nth(3).waitFor();
    const lines = await panel.locator('.waterfall tbody tr').allInnerTexts();
    expect(lines.map((line) => line.replace(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(/^GET \/order shop on host-a 10 ms /),
      expect.stringMatching(/^ask shop on host-a 7 ms /),
      expect.stringMatching(
        /^GET \/stock error after 500 µs of blocked event loop stock on host-b 5 ms /,
      ),
      expect.stringMatching(/^SELECT stock on host-b 3 ms /),
    ]);
    const words = await panel.locator('p').first().innerText();
    expect(words).toContain('4 spans in 10 ms.');
    expect(words).toContain('A line below a bar marks the critical path; “waited for” is');
    expect(words).toMatch(/The times of stock on host-b are moved by 4 ms, right within 1 ms\./);
    expect(await panel.locator('.bar:not(.pause)').count()).toBe(4);
    const pause = panel.locator('.bar.pause');
    expect(await pause.getAttribute('title')).toBe('500 µs of blocked event loop');
    expect(await panel.locator('.bar.critical').count()).toBeGreaterThanOrEqual(2);
  });

  it('says that a parent is missing', async () => {
    const { page } = await traces.open({}, '/time-line?find.text=missing-parent');
    await page.keyboard.press('/');
    await page.getByText('1 match').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Trace', exact: true }).click();
    const panel = page.locator('#view-trace');
    await panel.getByText('The parents of 1 are not in this recording.').waitFor();
    expect(await panel.locator('.waterfall tbody tr').innerText()).toContain('parent missing');
  });

  it('lists what was open: requests by their paths, and what they waited for below them', async () => {
    const { page } = await traces.open({}, '/time-line?find.text=service%3Dkilled');
    const table = page.locator('#view-overview table', { hasText: 'Open at the end' });
    await table.waitFor();
    expect(await table.locator('caption').innerText()).toBe(
      'Open at the end: 2 spans, 1 of them a request, the oldest first',
    );
    const lines = await table.locator('tbody th').allInnerTexts();
    expect(lines).toEqual(['GET /export/22', '\u00a0\u00a0SELECT']);
    await table.getByRole('button', { name: 'SELECT' }).click();
    await page.locator('#view-trace').getByText('2 were open').waitFor();
  });

  it('is of processes that ended as the report says', async () => {
    const { page } = await traces.open({}, '/overview');
    const states = page.locator('#view-overview tbody td:nth-child(3)');
    await states.first().waitFor();
    const unusual = 'ended with open spans';
    expect((await states.allInnerTexts()).sort()).toEqual(['ended', 'ended', unusual]);
    const { stdout } = tracewright('report', traces.directory);
    expect(stdout.split('\n').filter((line) => line.includes(unusual))).toHaveLength(1);
  });

  it('has the ids that a log has', async () => {
    const { page } = await traces.open({}, '/time-line?find.text=order');
    await page.keyboard.press('/');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Details' }).click();
    const { trace_id, span_id } = ids;
    await page.getByText(`trace_id=${trace_id} span_id=${span_id}`).waitFor();
  });
});
