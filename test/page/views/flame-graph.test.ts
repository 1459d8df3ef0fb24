import { describe, expect, it } from 'vitest';
import type { Report } from '../../../src/look/report/shape/report-shape.js';
import { PROFILE_DESCRIPTION } from '../../../src/spans/layout.js';
import { Scope } from '../../../src/spans/scope.js';
import { openThreadSpans } from '../../../src/spans/thread-spans.js';
import { configure, shutdown, startSpan } from '../../../src/spans/index.js';
import { tracewright } from '../../cli/run-command.js';
import { axeFindings } from '../accessibility.js';
import { noBrowser, titleOf } from '../browser.js';
import { BEGIN } from '../recorded-service.js';
import { ViewedTraces } from '../viewed-traces.js';

const REQUESTS = 40;
/** Each request runs them for so many samples: `parse` within `handle`, with Node's own below it, and a collection. */
const FRAMES = [
  'at emit (node:events:519:28)',
  'at handle (/app/src/shop.js:4:1)',
  'at parse (/app/src/orders.js:11:5)',
  'at parse (node:internal/json:1:1)',
  '(garbage collector)',
];
const NODES = '0,1:0,2:1,3:2,4:0';
const SAMPLES_OF_NODES = [
  [1, 1],
  [2, 2],
  [3, 3],
  [4, 1],
] as const;
const PER_REQUEST = 7;
const INTERVAL = 5_000_000;

const wall = (ms: number): bigint => BigInt(BEGIN) * 1_000_000n + BigInt(Math.round(ms * 1e6));
/** Ns of CLOCK_MONOTONIC. */
const monotonic = (ms: number): number =>
  Number(process.hrtime.bigint() + wall(ms) - BigInt(Date.now()) * 1_000_000n);

/** Carts, every other one slow, with a query each; and what the CPU ran for them, as the hook records it. */
const traces = new ViewedTraces(async (directory) => {
  const path = `${directory}/shop.heph`;
  configure({ target: path, service: 'shop' });
  const ids: string[] = [];
  for (let request = 0; request < REQUESTS; request++) {
    const start = request * 200;
    const cart = startSpan(
      'GET /cart',
      {},
      { startTime: wall(start), parent: null, kind: 'server' },
    );
    const call = { startTime: wall(start + 1), parent: cart, kind: 'client' } as const;
    startSpan('SELECT carts', {}, call).end(wall(start + 3));
    cart.end(wall(start + (request % 2 === 0 ? 40 : 80)));
    ids.push(cart.ids.span_id);
  }
  const samples = ids.flatMap((_, request) =>
    SAMPLES_OF_NODES.flatMap(([node, count]) =>
      Array.from({ length: count }, () => `${(request * 200 + 10) * 1000}:${node}:${request}`),
    ),
  );
  const values = [
    ['interval', INTERVAL],
    ['frames', FRAMES.join('\n')],
    ['nodes', NODES],
    ['samples', samples.join(',')],
    ['spans', ids.join(',')],
    ['lines', ''],
  ] as const;
  const spans = openThreadSpans(new Scope('test', '1'))!;
  spans.recordNote(PROFILE_DESCRIPTION, values, monotonic(0), monotonic(REQUESTS * 200));
  await shutdown();
  return [path];
});

const WHERE = ['name=GET /cart', 'kind=server'];
const ADDRESS = `/route?name=GET+%2Fcart&where=${encodeURIComponent('name="GET /cart" kind=server')}`;

describe.skipIf(noBrowser !== undefined)(titleOf('the flame graph of a route'), () => {
  it('shows CPU samples, as many as the command counts', async () => {
    const where = WHERE.flatMap((term) => ['--where', term]);
    const { stdout } = tracewright('report', traces.directory, '--json', ...where);
    const { profile } = JSON.parse(stdout) as Report;
    const { page, complaints } = await traces.open({}, ADDRESS);
    const section = page.getByRole('region', { name: 'Flame graph' });
    await section.getByRole('heading', { name: 'Code that ran for its requests' }).waitFor();
    const labels = await section
      .getByRole('treeitem')
      .evaluateAll((all) => all.map((node) => node.getAttribute('aria-label')));
    const all = REQUESTS * PER_REQUEST;
    expect(labels).toEqual([
      `GET /cart in shop: ${all} samples (100 %)`,
      'handle (src/shop.js from line 4): 240 samples (85.7 %), 40 samples itself',
      'parse (src/orders.js from line 11): 200 samples (71.4 %)',
      '(garbage collector): 40 samples (14.3 %)',
    ]);
    const ofRoute = profile.filter(({ route }) => route === 'GET /cart');
    expect(Object.fromEntries(ofRoute.map((each) => [each.function, each.samples]))).toEqual({
      handle: 40,
      parse: 200,
      '(garbage collector)': 40,
    });
    expect(ofRoute[0]!.samples / ofRoute[0]!.share).toBeCloseTo(all);
    expect(complaints).toEqual([]);
  });

  it('is of the requests that are chosen, and of spans if one wants these', async () => {
    const { page } = await traces.open({}, ADDRESS);
    await page.getByRole('button', { name: `${REQUESTS * PER_REQUEST} CPU samples` }).waitFor();
    await page.getByRole('button', { name: 'spans', exact: true }).click();
    await page.getByRole('treeitem', { name: /^SELECT carts in shop: 2 ms/ }).waitFor();
    await page.getByRole('heading', { name: 'Spans of one request, by their time' }).waitFor();
    await page.getByRole('button', { name: 'slowest 5 %' }).click();
    await page.getByRole('button', { name: `${20 * PER_REQUEST} CPU samples` }).waitFor();
    await page.getByRole('button', { name: 'failed', exact: true }).click();
    await page.getByText('None of its spans failed.').waitFor();
  });

  it('has nothing against axe-core', async () => {
    const { page } = await traces.open({}, ADDRESS);
    await page.getByRole('treeitem').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
