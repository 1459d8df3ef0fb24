import { expect, it } from 'vitest';
import {
  compareRecordings,
  comparisonText,
} from '../../../../../src/look/compare/compare-recordings.js';
import { parseWhere } from '../../../../../src/look/condition/where.js';
import { openLookIndex } from '../../../../../src/look/index/open-look-index.js';
import { textReport } from '../../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../../src/look/report/print/text/text-style.js';
import type { SpanKind } from '../../../../../src/spans/layout.js';
import { startSpan } from '../../../../../src/spans/start-span.js';
import { recording, reportOn } from '../../recorded-service.js';

/** What is called GET: kind, attributes, how many, and how long each takes, in ms. */
const OPERATIONS: [SpanKind, Record<string, string>, number, number][] = [
  ['client', { 'db.system.name': 'redis', 'server.address': 'cache' }, 40, 1],
  ['client', { 'http.request.method': 'GET', 'server.address': 'stock' }, 7, 30],
  ['server', { 'http.request.method': 'GET' }, 9, 80],
  // OpenTelemetry's older conventions.
  ['client', { 'db.system': 'memcached' }, 5, 2],
  ['client', { 'http.method': 'GET', 'net.peer.name': 'old' }, 3, 20],
  ['internal', {}, 2, 5],
];

async function recorded(): Promise<string> {
  const begin = BigInt(Date.now()) * 1_000_000n;
  const { path } = await recording(
    () => {
      for (const [kind, attributes, count, ms] of OPERATIONS) {
        for (let i = 0; i < count; i++) {
          const startTime = begin + BigInt(i) * 1_000_000n;
          const span = startSpan('GET', attributes, { kind, parent: null, startTime });
          span.end(startTime + BigInt(ms) * 1_000_000n);
        }
      }
    },
    { service: 'shop' },
  );
  return path;
}

const EXPECTED = [
  ['server', 'http', 9, 80e6],
  ['client', 'http', 10, 30e6],
  ['client', 'redis', 40, 1e6],
  ['client', 'memcached', 5, 2e6],
  ['internal', null, 2, 5e6],
];

it('operations of several kinds and systems have rows of their own, whatever they are called', async () => {
  const path = await recorded();
  const { report } = await reportOn([path], { by: 'name', exact: true });
  const groups = report.groups.map(({ kind, system, count, max }) => [kind, system, count, max]);
  expect(new Set(groups)).toEqual(new Set(EXPECTED));
  expect(report.version).toBe(2);
  for (const { where, count } of report.groups) {
    const { report: some } = await reportOn([path], { by: 'name', condition: parseWhere(where!) });
    expect(some.groups.map((group) => group.count)).toEqual([count]);
  }
  const lines = [...textReport(report, textStyle(200, false))];
  expect(lines.find((line) => /^GET \(redis\) +client +redis +shop +40 /.test(line))).toBeDefined();
});

it('a command that is called as a method of HTTP is none, whatever it has asked', async () => {
  const { path } = await recording(() => {
    const begin = BigInt(Date.now()) * 1_000_000n;
    const request = startSpan('GET /', {}, { kind: 'server', parent: null, startTime: begin });
    for (const own of [{ 'db.system.name': 'redis' }, { 'http.request.method': 'GET' }]) {
      const attributes = { ...own, 'server.address': 'cache', 'server.port': 6379 };
      startSpan('GET', attributes, { kind: 'client', parent: request, startTime: begin }).end(
        begin + 5_000_000n,
      );
    }
    request.end(begin + 20_000_000n);
  });
  const { report } = await reportOn([path], { slowest: 1 });
  const text = [...textReport(report, textStyle(200, false))].join('\n');
  expect(text).toMatch(/[├└] GET \(redis\) /);
  expect(text).toMatch(/[├└] GET cache:6379 /);
});

it('a comparison has rows of their own for them, too', async () => {
  const index = await openLookIndex([await recorded()]);
  const comparison = await compareRecordings({ index, condition: {} }, { index, condition: {} });
  const groups = comparison.groups.map(({ kind, system, before }) => [kind, system, before.count]);
  expect(new Set(groups)).toEqual(new Set(EXPECTED.map((each) => each.slice(0, 3))));
  const text = [...comparisonText(comparison, textStyle(200, false))].join('\n');
  expect(text).toMatch(/GET \(redis\) +client +redis +shop/);
  index.close();
});
