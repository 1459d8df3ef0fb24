import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { endOf } from '../../../src/look/report/measures/selection.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { makeReport } from '../../../src/look/report/report.js';
import { textReport } from '../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import { startHangingService } from '../../fixtures/hanging-service.js';
import { startService } from '../../fixtures/running-service.js';
import { reportOn } from './recorded-service.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const directory = temporaryDirectory();

it('living processes are complete up to now, also where they have recorded nothing since', async () => {
  const traces = mkdtempSync(join(directory, 'living-'));
  const begun = Date.now();
  const shop = await startService(join(traces, 'shop.heph'), 'shop');
  await shop.record(100, 'GET /cart');
  const stock = await startService(join(traces, 'stock.heph'), 'stock');
  await stock.record(100, 'GET /stock');
  await sleep(2000);
  const asked = Date.now();
  const index = await openLookIndex([traces], { cache: false });
  const first = (await makeReport(index)).report;
  const now = Date.now();
  for (const { until, recorded } of first.sources) {
    expect(Date.parse(until!)).toBeGreaterThan(asked - 50);
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
  expect(again.findings).toEqual([]);
  await shop.kill();
  await stock.end();
  await index.refresh();
  const { findings } = (await makeReport(index)).report;
  expect(findings.map(({ rule, service }) => [rule, service])).toEqual([['died', 'shop']]);
  expect(findings[0]!.text).toMatch(/^shop \(process \d+\) was killed$/);
  // One service that is switched off, and one that is chosen.
  for (const [condition, count] of [
    [{ hidden: ['shop'] }, 0],
    [{ hidden: ['stock'] }, 1],
    [{ service: 'stock' }, 0],
    [{ service: 'shop' }, 1],
  ] as const) {
    expect((await makeReport(index, { condition })).report.findings).toHaveLength(count);
  }
  expect(index.sources.map(({ until }) => until)).toEqual([undefined, undefined]);
  expect(endOf(index)).toBe(index.length);
  index.close();
});

it('what hangs in a living process is named, with its age and what it waits for', async () => {
  const traces = mkdtempSync(join(directory, 'hanging-'));
  const said = await startHangingService(join(traces, 'shop.heph'));
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
  // Where there is little room, too: with it one finds the request in a log.
  const narrow = [...textReport(report, textStyle(80, false))].join('\n');
  for (const trace of said.traces) {
    expect(text).toContain(trace);
    expect(narrow).toContain(trace);
  }
  index.close();
  await said.kill();
});

it('of processes that live and of one that was killed, the report says which spans are open now', async () => {
  const traces = mkdtempSync(join(directory, 'mixed-'));
  const living = await startHangingService(join(traces, 'living.heph'));
  const killed = await startHangingService(join(traces, 'killed.heph'));
  await killed.kill();
  const { report } = await reportOn([traces]);
  await living.kill();
  const open = new Map(report.open.spans.map(({ traceId, isNow }) => [traceId, isNow]));
  expect(living.traces.map((trace) => open.get(trace))).toEqual([true, true]);
  expect(killed.traces.map((trace) => open.get(trace))).toEqual([false, false]);
  const text = [...textReport(report, textStyle(120, false))].join('\n');
  expect(text).toContain('Open now or at the end: 6 spans, 4 of them requests');
  expect(text).toMatch(/ now +GET \/cart /);
  expect(text).toMatch(/ at the end +GET \/cart /);
});
