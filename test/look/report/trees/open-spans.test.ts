import { describe, expect, it } from 'vitest';
import { textReport } from '../../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../../src/look/report/print/text/text-style.js';
import type { ReportWithRows } from '../../../../src/look/report/report.js';
import { CLIENT, OPEN, SERVER, service } from '../handmade-service.js';
import type { MadeSpan } from '../handmade-service.js';
import { reportOn } from '../recorded-service.js';

const INTERNAL = 1n | (1n << 16n) | OPEN;
const text = (name: string, value: string) => ({ name, type: 'string', value }) as const;

/** A request of Express that was killed: its own span does not know its route yet. */
function request(first: bigint, begin: number): MadeSpan[] {
  const trace = first;
  const [id, router, handler, query] = [first, first + 1n, first + 2n, first + 3n];
  const path = text('url.path', `/orders/${first}`);
  return [
    { trace, id, name: 'GET', flags: SERVER | OPEN, at: [begin, 900], attributes: [path] },
    {
      ...{ trace, id: router, parent: id, name: 'router - /orders', at: [begin, begin + 1] },
      attributes: [text('http.route', '/orders')],
    },
    {
      ...{ trace, id: handler, parent: id, name: 'request handler - /orders/:id' },
      ...{ flags: INTERNAL, at: [begin + 1, 900], attributes: [text('http.route', '/orders/:id')] },
    },
    { trace, id: query, parent: handler, name: 'SELECT', flags: INTERNAL, at: [begin + 2, 900] },
  ];
}

function openOf({ report }: ReportWithRows): unknown[] {
  return report.open.spans.map(({ depth, name, path, target, service: of }) => [
    ...[depth, name, path, target, of],
  ]);
}

function sectionOf({ report }: ReportWithRows): string[] {
  const lines = [...textReport(report, textStyle(100, false))];
  const from = lines.findIndex((line) => line.startsWith('Open at the end'));
  return lines.slice(from, lines.indexOf('', from));
}

describe('requests that are open at the end', () => {
  it('have the route of their handler, and are listed once', async () => {
    const shop = service('shop', [...request(10n, 100), ...request(20n, 200)]);
    const illustrated = await reportOn([shop]);
    expect(openOf(illustrated)).toEqual([
      [0, 'GET /orders/:id', null, null, 'shop'],
      [1, 'SELECT', null, null, 'shop'],
      [0, 'GET /orders/:id', null, null, 'shop'],
      [1, 'SELECT', null, null, 'shop'],
    ]);
    expect(illustrated.report.open).toMatchObject({ count: 6, requests: 2, omitted: 0 });
    expect(new Set(illustrated.rows.open).size).toBe(4);
    const section = sectionOf(illustrated);
    expect(section[0]).toBe('Open at the end: 6 spans, 2 of them requests');
    expect(section.slice(2).map((line) => line.slice(10, 26).trim())).toEqual([
      ...['GET /orders/:id', '└ SELECT', 'GET /orders/:id', '└ SELECT'],
    ]);
  });

  it('keep a span that says the route and is no handler', async () => {
    const [whole, , handler] = request(10n, 100);
    const own: MadeSpan = { ...handler!, name: 'load order' };
    expect(openOf(await reportOn([service('shop', [whole!, own])]))).toEqual([
      [0, 'GET /orders/:id', null, null, 'shop'],
      [1, 'load order', null, null, 'shop'],
    ]);
  });

  it('have their path, if only another service knows a route', async () => {
    const [whole] = request(10n, 100);
    const asked = [text('server.address', 'stock'), text('url.full', 'http://stock/stock/7')];
    const call: MadeSpan = {
      ...{ trace: 10n, id: 30n, parent: 10n, name: 'GET', flags: CLIENT | OPEN, at: [110, 900] },
      attributes: asked,
    };
    const called: MadeSpan = {
      ...{ trace: 10n, id: 31n, parent: 30n, name: 'GET', flags: SERVER | OPEN, at: [120, 900] },
      attributes: [text('http.route', '/stock/:id')],
    };
    const paths = [service('shop', [whole!, call]), service('stock', [called])];
    const illustrated = await reportOn(paths);
    expect(openOf(illustrated)).toEqual([
      [0, 'GET', '/orders/10', null, 'shop'],
      [1, 'GET', null, 'stock', 'shop'],
      [2, 'GET /stock/:id', null, null, 'stock'],
    ]);
    expect(
      sectionOf(illustrated)
        .slice(2)
        .map((line) => line.slice(10, 30).trim()),
    ).toEqual([
      ...['GET /orders/10', '└ GET stock', '  └ GET /stock/:id'].map((line) => line.trim()),
    ]);
  });

  it('are listed without the call with which their own process has asked for them', async () => {
    const requests = Array.from({ length: 9 }, (_, at): MadeSpan[] => {
      const trace = BigInt(10 * at + 10);
      const [call, whole, handler] = [trace, trace + 1n, trace + 2n];
      const name = `GET /customers/:id/a-long-name-of-a-route-${at}`;
      const flags = SERVER | OPEN;
      return [
        { trace, id: call, name: 'GET', flags: CLIENT | OPEN, at: [100 + at, 900] },
        { trace, id: whole, parent: call, name, flags, at: [101 + at, 900] },
        { trace, id: handler, parent: whole, name: 'handle', flags: INTERNAL, at: [102 + at, 900] },
      ];
    }).flat();
    const illustrated = await reportOn([service('shop', requests)]);
    expect(illustrated.report.open).toMatchObject({ count: 27, requests: 9 });
    expect(openOf(illustrated).slice(0, 2)).toEqual([
      [0, 'GET /customers/:id/a-long-name-of-a-route-0', null, null, 'shop'],
      [1, 'handle', null, null, 'shop'],
    ]);
    // The screen has a row a request, with its whole name.
    const screen = [...textReport(illustrated.report, textStyle(100, false), [], 'screen')];
    const from = screen.findIndex((line) => line.startsWith('Open at the end: 27 spans'));
    for (const at of [0, 1, 2, 3, 4, 5]) {
      expect(screen[from + 2 + at]).toMatch(
        new RegExp(
          `^ *\\d+ ms {2}GET /customers/:id/a-long-name-of-a-route-${at} +shop +[\\da-f]{32}$`,
        ),
      );
    }
    expect(screen[from + 8]).toBe('12 more of 18 rows: see --section open');
  });

  it('are counted beyond the oldest hundred', async () => {
    const many = Array.from({ length: 60 }, (_, i) => request(BigInt(10 * i + 10), i)).flat();
    const illustrated = await reportOn([service('shop', many)]);
    const { count, requests, omitted, spans } = illustrated.report.open;
    expect([count, requests, omitted]).toEqual([180, 60, 80]);
    expect(spans.filter(({ name }) => name === 'GET /orders/:id')).toHaveLength(35);
    expect(sectionOf(illustrated).at(-1)).toBe(
      `${spans.length + 50} more of ${spans.length + 80} rows: see --json`,
    );
  });
});
