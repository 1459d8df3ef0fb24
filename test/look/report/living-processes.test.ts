import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { endOf } from '../../../src/look/report/selection.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { makeReport } from '../../../src/look/report/report.js';
import { textReport } from '../../../src/look/report/text/text-report.js';
import { textStyle } from '../../../src/look/report/text/text-style.js';
import { reportPage } from '../../../src/look/report/html/html-page.js';
import { main } from '../../cli/run-command.js';
import { startService } from '../../fixtures/running-service.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const directory = temporaryDirectory();

it('living processes are complete up to now, also where they have recorded nothing since', async () => {
  const begun = Date.now();
  const shop = await startService(join(directory, 'shop.heph'), 'shop');
  await shop.record(100, 'GET /cart');
  const stock = await startService(join(directory, 'stock.heph'), 'stock');
  await stock.record(100, 'GET /stock');
  await sleep(2000);
  const index = await openLookIndex([directory], { cache: false });
  const first = (await makeReport(index)).report;
  const now = Date.now();
  for (const { until, recorded } of first.sources) {
    expect(now - Date.parse(until!)).toBeLessThan(1000);
    expect(recorded / 1e6).toBeGreaterThan(1900);
    expect(recorded / 1e6).toBeLessThan(now - begun + 50);
  }
  // By the clock of this process: a hundred in more than two seconds.
  for (const { count, rate } of first.groups) {
    expect(count).toBe(100);
    expect(rate).toBeLessThan(50);
    expect(rate).toBeGreaterThan(100 / ((now - begun) / 1000));
  }
  const text = [...textReport(first, textStyle(200, false))].join('\n');
  expect(text).toMatch(/running +complete to|state +complete to/);

  await sleep(500);
  await shop.record(100, 'GET /cart');
  await index.refresh();
  const again = (await makeReport(index)).report;
  // One of them has recorded nothing since, and is complete up to now nevertheless.
  const untils = again.sources.map(({ until }) => Date.parse(until!));
  expect(Math.abs(untils[0]! - untils[1]!)).toBeLessThan(200);
  expect(Math.min(...untils)).toBeGreaterThan(now);
  await shop.kill();
  await stock.end();
  await index.refresh();
  expect(index.sources.map(({ until }) => until)).toEqual([undefined, undefined]);
  expect(endOf(index)).toBe(index.length);
  index.close();
});

/** Answers a request, and hangs in two others: one in a query, one in itself. It says when each began. */
const HANGING = `
  import { configure, flush, startSpan } from ${JSON.stringify(
    pathToFileURL(join(dirname(main), '../spans/index.mjs')).href,
  )};
  configure({ target: process.argv[1], service: 'shop' });
  const server = { kind: 'server', parent: null };
  startSpan('GET /done', {}, server).end();
  const began = [];
  const begin = (route) => {
    began.push(Date.now());
    return startSpan('GET ' + route, { 'http.route': route }, server);
  };
  const first = begin('/orders/:id');
  startSpan('SELECT orders', { 'db.system.name': 'postgresql' }, { kind: 'client', parent: first });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const second = begin('/cart');
  await flush();
  process.send({ began, traces: [first, second].map(({ ids }) => ids.trace_id) });
  setInterval(() => undefined, 1000);`;

it('what hangs in a living process is named, with its age and what it waits for', async () => {
  const traces = mkdtempSync(join(directory, 'hanging-'));
  const args = ['--input-type=module', '-e', HANGING, join(traces, 'shop.heph')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [said] = (await once(child, 'message')) as [{ began: number[]; traces: string[] }];
  await sleep(1500);
  const before = Date.now();
  const index = await openLookIndex([traces], { cache: false });
  const illustrated = await makeReport(index);
  const after = Date.now();
  const { report } = illustrated;
  const { open } = report;
  expect(open).toMatchObject({ count: 3, requests: 2, omitted: 0 });
  expect(open.spans.map(({ name, depth, traceId }) => [name, depth, traceId])).toEqual([
    ['GET /orders/:id', 0, said.traces[0]],
    ['SELECT orders', 1, said.traces[0]],
    ['GET /cart', 0, said.traces[1]],
  ]);
  // By the clock of the program: a second and a half and more, though it has recorded nothing since.
  const ages = open.spans.filter(({ depth }) => depth === 0).map(({ age }) => age / 1e6);
  for (const [at, age] of ages.entries()) {
    expect(age).toBeGreaterThan(before - said.began[at]! - 50);
    expect(age).toBeLessThan(after - said.began[at]! + 50);
  }
  const text = [...textReport(report, textStyle(200, false))].join('\n');
  expect(text).toContain('Open now: 3 spans, 2 of them requests');
  expect(text).toMatch(/GET \/orders\/:id .*\n.*└.*SELECT orders/);
  expect(text).toContain(said.traces[1]);
  expect(reportPage(illustrated)).toContain('Open now: 3 spans');
  index.close();
  child.kill('SIGKILL');
  await once(child, 'exit');
});
