import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { configure, extract, shutdown, startSpan } from '../../../../src/spans/index.js';
import { tracewright } from '../../../cli/run-command.js';
import { startHangingService } from '../../../fixtures/hanging-service.js';
import type { HangingService } from '../../../fixtures/hanging-service.js';
import { noBrowser, titleOf } from '../../browser.js';
import { BEGIN } from '../../recorded-service.js';
import { ViewedTraces } from '../../viewed-traces.js';

const REQUESTS = 50;
const at = (ms: number): bigint => BigInt(BEGIN) * 1_000_000n + BigInt(ms * 1e6);
const server = (parent: Parameters<typeof startSpan>[2]): Parameters<typeof startSpan>[2] => {
  return { ...parent, kind: 'server' };
};

/** Purchases of a shop, each of which waits for a statement of the billing service that it calls. */
async function recordPurchases(directory: string): Promise<string> {
  const path = join(directory, 'purchases');
  mkdirSync(path);
  const headers: Record<string, string>[] = [];
  configure({ target: join(path, 'shop.heph'), service: 'shop' });
  for (let i = 0; i < REQUESTS; i++) {
    const buy = startSpan('POST /buy', {}, server({ startTime: at(100 * i), parent: null }));
    const options = { kind: 'client', parent: buy, startTime: at(100 * i + 1) } as const;
    const call = startSpan('POST', { 'server.address': 'billing', 'server.port': 8080 }, options);
    headers.push({ traceparent: `00-${call.ids.trace_id}-${call.ids.span_id}-01` });
    call.end(at(100 * i + 59));
    buy.end(at(100 * i + 60));
  }
  await shutdown();
  configure({ target: join(path, 'billing.heph'), service: 'billing' });
  for (const [i, carrier] of headers.entries()) {
    const parent = extract(carrier)!;
    const charge = startSpan('POST /charge', {}, server({ startTime: at(100 * i + 2), parent }));
    const options = { kind: 'client', parent: charge, startTime: at(100 * i + 5) } as const;
    startSpan('UPDATE ledger', { 'db.system.name': 'postgresql' }, options).end(at(100 * i + 55));
    charge.end(at(100 * i + 58));
  }
  await shutdown();
  return path;
}

let purchases: string;
const services: HangingService[] = [];
const traces = new ViewedTraces(async (directory) => {
  purchases = await recordPurchases(directory);
  return [purchases];
});

afterAll(async () => {
  for (const service of services) await service.kill();
});

/** Requests of a service that records a quarter of them. */
async function recordSampled(directory: string): Promise<string> {
  const path = mkdtempSync(join(directory, 'sampled-'));
  configure({ target: join(path, 'quarter.heph'), service: 'quarter', sample: 0.25 });
  for (let i = 0; i < 400; i++) {
    startSpan('GET /', {}, server({ startTime: at(10 * i), parent: null })).end(at(10 * i + 1));
  }
  await shutdown();
  return path;
}

describe.skipIf(noBrowser !== undefined)(titleOf('slow services'), () => {
  it('a route waits for the statement of the service that it has called', async () => {
    const { page } = await traces.open({}, '/overview');
    const row = page.locator('#section-routes').locator('tbody tr', { hasText: 'POST /buy' });
    await row.waitFor();
    // 50 of 60 ms.
    expect(await row.locator('td').last().innerText()).toMatch(
      /^UPDATE ledger in billing 83\.3 %, POST \/charge in billing 10 %/,
    );
  });

  it('a living process says which requests are open, for how long, and in what', async () => {
    const directory = mkdtempSync(join(traces.directory, 'hanging-'));
    const service = await startHangingService(join(directory, 'shop.heph'));
    services.push(service);
    const view = await traces.start([directory]);
    const { page } = await traces.open({}, '/overview', view);
    const table = page.locator('#view-overview table', { hasText: 'Open now' });
    await table.waitFor();
    expect(await table.locator('caption').innerText()).toBe(
      'Open now: 3 spans, 2 of them requests',
    );
    expect(await table.locator('tbody th').allInnerTexts()).toEqual([
      'GET /orders/:id',
      '\u00a0\u00a0SELECT orders',
      'GET /cart',
    ]);
    const text = await table.innerText();
    for (const trace of service.traces) expect(text).toContain(trace);
    const line = page.locator('#recordings tbody tr');
    expect(await line.innerText()).toMatch(/\srunning\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\..* UTC\s/);
    // The command says the same.
    const { stdout } = tracewright('report', directory);
    expect(stdout).toContain('Open now: 3 spans, 2 of them requests');
    expect(stdout).toMatch(/GET \/orders\/:id .*\n.*└.*SELECT orders/);
  });

  it('a sampled service is said to be, and its counts are estimates of all', async () => {
    const view = await traces.start([await recordSampled(traces.directory)]);
    const { page } = await traces.open({}, '/overview', view);
    const panel = page.locator('#view-overview');
    await panel.getByText('quarter is sampled: it records 25 % of its traces.').waitFor();
    const row = panel.locator('#section-routes').locator('tbody tr', { hasText: 'GET /' });
    const titles = await panel.locator('#section-routes').locator('thead th').allInnerTexts();
    const text = await row.locator('th, td').nth(titles.indexOf('count')).innerText();
    const [rows] = /\d+(?= records)/.exec(await page.locator('#recordings p').innerText())!;
    expect(Number(text)).toBe(4 * Number(rows));
  });
});
