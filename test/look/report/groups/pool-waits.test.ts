import { expect, it } from 'vitest';
import { textReport } from '../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../src/look/report/print/text/text-style.js';
import type { Span } from '../../../../src/spans/span.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { rowAt } from '../../../../src/look/index/index-row.js';
import { textTrace } from '../../../../src/look/report/print/text/text-trace.js';
import { traceReport } from '../../../../src/look/report/trace-report.js';
import type { RowAnswer } from '../../../../src/look/wire/answers.js';
import { Served } from '../../server/served.js';
import { recording, reportOn } from '../recorded-service.js';

const MS = 1_000_000n;
const BEGIN = BigInt(Math.floor(Date.now() / 1000)) * 1000n * MS;
const POSTGRES = { 'db.system.name': 'postgresql' };

/** A request, with what runs in it. Times are in ms. */
function request(name: string, from: number, to: number, run: (span: Span) => void): void {
  const startTime = BEGIN + BigInt(from) * MS;
  const [method, path] = name.split(' ') as [string, string];
  // One without a route is named by its path.
  const attributes = { 'http.request.method': method, 'url.path': path };
  const span = startSpan(path === '/export' ? method : name, attributes, {
    kind: 'server',
    parent: null,
    startTime,
  });
  const handler = startSpan(`${name} handler`, {}, { parent: span, startTime });
  run(handler);
  handler.end(BEGIN + BigInt(to) * MS);
  span.end(BEGIN + BigInt(to) * MS);
}

function waits(parent: Span, from: number, to: number, holder?: Span, held = 0): void {
  const attributes = { 'tracewright.pool.held': held * 1e6 };
  const links = holder === undefined ? [] : [{ to: holder, attributes }];
  const startTime = BEGIN + BigInt(from) * MS;
  startSpan('postgresql pool', POSTGRES, { parent, startTime, links }).end(BEGIN + BigInt(to) * MS);
}

it('a report says who waited for connections of a pool, and who held them', async () => {
  const { path } = await recording(
    () => {
      let exporting!: Span;
      request('GET /export', 0, 300, (handler) => (exporting = handler));
      let buying!: Span;
      request('POST /buy', 100, 330, (handler) => {
        buying = handler;
        waits(handler, 100, 300, exporting, 300);
      });
      // It waited 200 ms for the export, which the first purchase says, and 30 ms for that.
      request('POST /buy', 100, 350, (handler) => {
        waits(handler, 100, 330, buying, 30);
      });
      // A new connection was made for it.
      request('GET /new', 100, 200, (handler) => {
        waits(handler, 100, 170);
      });
    },
    { service: 'shop' },
  );
  const illustrated = await reportOn([path]);
  const [pool, ...others] = illustrated.report.pools;
  expect(others).toEqual([]);
  expect(pool).toMatchObject({ name: 'postgresql pool', service: 'shop', count: 3, sampled: 2 });
  const ms = (shares: { name: string; time: number }[]): unknown[] =>
    shares.map(({ name, time }) => [name, Math.round(time / 1e6)]);
  expect(pool!.total).toBe(500e6);
  expect(pool!.max).toBe(230e6);
  expect(ms(pool!.waited)).toEqual([
    ['POST /buy', 430],
    ['GET /new', 70],
  ]);
  expect(new Set(ms(pool!.held))).toEqual(
    new Set([
      ['GET /export', 400],
      ['POST /buy', 30],
    ]),
  );
  const buying = await reportOn([path], { condition: { name: 'POST /buy' } });
  expect(buying.report.pools).toMatchObject([{ name: 'postgresql pool', count: 2, total: 430e6 }]);
  const text = [...textReport(illustrated.report, textStyle(160, false))].join('\n');
  expect(text).toMatch(
    /^postgresql pool +shop +3 +500 ms +230 ms +POST \/buy 86 %.*GET \/export 93 %/m,
  );
});

it.each([
  ['mssql pool', { 'db.system.name': 'microsoft.sql_server' }],
  ['http pool', {}],
  ['generic pool', {}],
  ['knex pool', {}],
])('%s is one, whatever its system is called', async (name, attributes) => {
  const { path } = await recording(() => {
    let exporting!: Span;
    request('GET /export', 0, 300, (handler) => (exporting = handler));
    request('POST /buy', 100, 330, (parent) => {
      const links = [{ to: exporting, attributes: { 'tracewright.pool.held': 300e6 } }];
      const startTime = BEGIN + 100n * MS;
      startSpan(name, attributes, { parent, startTime, links }).end(BEGIN + 300n * MS);
    });
  });
  const { pools } = (await reportOn([path])).report;
  expect(pools).toMatchObject([
    { name, count: 1, total: 200e6, held: [{ name: 'GET /export', share: 1 }] },
  ]);
});

it('is estimated from some of many waits, by their time', async () => {
  const { path } = await recording(() => {
    let exporting!: Span;
    let listing!: Span;
    request('GET /export', 0, 10, (handler) => (exporting = handler));
    request('GET /list', 0, 10, (handler) => (listing = handler));
    // The list is waited for nine times as often, and a third as long each time.
    for (let i = 0; i < 3000; i++) {
      const holder = i % 10 === 0 ? exporting : listing;
      const took = i % 10 === 0 ? 3 : 1;
      request('GET /a', i, i + took, (handler) => {
        waits(handler, i, i + took, holder, 10);
      });
    }
  });
  const [pool] = (await reportOn([path])).report.pools;
  expect(pool!.count).toBe(3000);
  expect(pool!.sampled).toBeLessThan(500);
  const shareOf = (name: string): number => pool!.held.find((each) => each.name === name)!.share;
  expect(shareOf('GET /list')).toBeCloseTo(0.75, 1);
  expect(shareOf('GET /export')).toBeCloseTo(0.25, 1);
});

it('a wait that begins in whole milliseconds, a little before its request, is what the route waited for', async () => {
  const { path } = await recording(() => {
    for (let each = 0; each < 30; each++) {
      const at = (ms: number): bigint => BEGIN + BigInt(Math.round((200 * each + ms) * 1e6));
      const options = { kind: 'server', parent: null, startTime: at(0.7) } as const;
      const span = startSpan('POST /buy', {}, options);
      startSpan('generic pool', {}, { parent: span, startTime: at(0) }).end(at(80));
      span.end(at(100.7));
    }
  });
  const [route] = (await reportOn([path])).report.groups;
  const shares = route!.waitedFor.map(({ name, share }) => [name, Math.round(100 * share)]);
  expect(shares).toEqual([
    ['generic pool', 79],
    ['POST /buy', 21],
  ]);
});

it('a trace names all who held the connection while it waited', async () => {
  const { path, spans } = await recording(() => {
    let [exporting, buying]: Span[] = [];
    request('GET /export', 0, 300, (handler) => (exporting = handler));
    request('POST /buy', 100, 330, (handler) => {
      buying = handler;
      waits(handler, 100, 300, exporting, 300);
    });
    request('GET /orders', 110, 350, (handler) => {
      waits(handler, 110, 330, buying, 30);
    });
  });
  const idOf = (route: string): string =>
    spans.find(({ name }) => name === route)!.traceId.slice(0, 8);
  const index = await openLookIndex([path]);
  const report = await traceReport(
    index,
    spans.find(({ name }) => name === 'GET /orders')!.traceId,
  );
  index.close();
  expect([...textTrace(report, textStyle(160, false))].at(-1)).toBe(
    `postgresql pool, 220 ms: held by POST /buy (trace ${idOf('POST /buy')}) 30 ms, before by GET /export (trace ${idOf('GET /export handler')}) 300 ms`,
  );
});

it('a trace says who held the connection that it waited for', async () => {
  const { path, spans } = await recording(
    () => {
      let exporting!: Span;
      request('POST /checkout', 0, 1200, (handler) => (exporting = handler));
      request('GET /orders', 400, 1300, (handler) => {
        waits(handler, 400, 1200, exporting, 1200);
        waits(handler, 1200, 1250);
      });
    },
    { service: 'shop' },
  );
  const { traceId } = spans.find(({ name }) => name === 'POST /checkout')!;
  const index = await openLookIndex([path]);
  const waiting = spans.find(({ name }) => name === 'GET /orders')!;
  const report = await traceReport(index, waiting.traceId);
  const row = index
    .rowsOfTrace(waiting.traceId)
    .find((each) => rowAt(index, each).name === 'postgresql pool')!;
  index.close();
  const held = report.slowest[0]!.rows.flatMap(({ heldBy }) => heldBy ?? []);
  expect(held).toEqual([{ name: 'POST /checkout', traceId, time: 1.2e9, before: null }]);
  expect([...textTrace(report, textStyle(100, false))]).toContain(
    `postgresql pool, 800 ms: held by POST /checkout (trace ${traceId.slice(0, 8)}) 1.2 s`,
  );
  const served = await Served.of(path);
  try {
    expect(await served.json<RowAnswer>('/data/row', { row })).toMatchObject({ heldBy: held[0] });
  } finally {
    await served.close();
  }
});
