import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../cpu-time.js';
import type { Attribute } from '../../../src/heph/packet.js';
import { textReport } from '../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import type { Report } from '../../../src/look/report/shape/report-shape.js';
import { CLIENT, SERVER, STALL, service, stall } from './handmade-service.js';
import type { MadeSpan } from './handmade-service.js';
import { reportOn } from './recorded-service.js';

const ASKED: Attribute[] = [
  { name: 'server.address', type: 'string', value: 'stock.internal' },
  { name: 'server.port', type: 'u64', value: 8080n },
];

/** A request of the shop, 200 ms, that calls the stock for 180 ms. */
const SHOP: MadeSpan[] = [
  { id: 1n, name: 'GET /orders/:id', flags: SERVER, at: [0, 200] },
  { id: 2n, parent: 1n, name: 'GET', flags: CLIENT, at: [10, 190], attributes: ASKED },
];
const REQUEST: MadeSpan = {
  id: 3n,
  parent: 2n,
  name: 'GET /stock/:id',
  flags: SERVER,
  at: [120, 150],
};

async function reportOf(...paths: string[]): Promise<Report> {
  const { report } = await reportOn(paths, { slowest: 1 });
  return report;
}

const ms = (ns: number): number => ns / 1e6;

function waits({ groups, slowest }: Report): Record<string, unknown[]> {
  const list = (all: (typeof groups)[0]['waitedFor']): unknown[] =>
    all.map(({ kind, name, target, service: of, time }) => [kind, name, target, of, ms(time)]);
  return { trace: list(slowest[0]!.waitedFor), route: list(groups[0]!.waitedFor) };
}

describe('a call of another service', () => {
  it('waits for the event loop there, before its request and after it', async () => {
    const stock = service('stock', [
      REQUEST,
      stall(4n, 5, 115),
      stall(5n, 155, 175),
      { id: 6n, trace: 9n, name: 'gc major', at: [105, 118] },
      stall(7n, 300, 400),
    ]);
    const report = await reportOf(service('shop', SHOP), stock);
    expect(
      report.slowest[0]!.rows.map(({ kind, depth, name, target, service: of, self, waited }) => [
        [kind, depth, name, target, of],
        [self, waited].map(ms),
      ]),
    ).toEqual([
      [
        ['span', 0, 'GET /orders/:id', null, 'shop'],
        [20, 20],
      ],
      [
        ['span', 1, 'GET', 'stock.internal:8080', 'shop'],
        [22, 22],
      ],
      [
        ['stall', 2, STALL, null, 'stock'],
        [105, 105],
      ],
      [
        ['collection', 2, 'garbage collection', null, 'stock'],
        [3, 3],
      ],
      [
        ['span', 2, 'GET /stock/:id', null, 'stock'],
        [30, 30],
      ],
      [
        ['stall', 2, STALL, null, 'stock'],
        [20, 20],
      ],
    ]);
    expect(waits(report)).toEqual({
      trace: [
        ['stall', STALL, null, 'stock', 125],
        ['span', 'GET /stock/:id', null, 'stock', 30],
        ['span', 'GET', 'stock.internal:8080', 'shop', 22],
        ['span', 'GET /orders/:id', null, 'shop', 20],
        ['collection', 'garbage collection', null, 'stock', 3],
      ],
      route: [
        ['stall', STALL, null, 'stock', 125],
        ['span', 'GET /stock/:id', null, 'stock', 30],
        ['span', 'GET', 'stock.internal:8080', 'shop', 22],
        ['span', 'GET /orders/:id', null, 'shop', 20],
        ['collection', 'garbage collection', null, 'stock', 3],
      ],
    });
    expect(report.slowest[0]).toMatchObject({ spans: 3, omitted: 0, stalls: 0 });
    expect(report.interruptions.slow).toMatchObject([
      {
        ...{ name: 'GET /orders/:id', service: 'shop', count: 1, time: 200e6 },
        ...{ stalls: 0, collections: 0, called: 128e6, either: 128e6 },
      },
      {
        ...{ name: 'GET /stock/:id', service: 'stock', count: 1, time: 30e6 },
        ...{ stalls: 0, collections: 0, called: 0, either: 0 },
      },
    ]);
    const lines = [...textReport(report, textStyle(100, false))];
    expect(lines.join(' ')).toMatch(
      /waited for blocked event loop of stock 125 ms \(62.5 %\), GET/,
    );
    expect(lines.find((line) => line.includes('GET stock.internal:8080  '))).toBeDefined();
    expect(lines.join('\n')).toMatch(
      /slowest 5 % of +service +count +time +stalled +gc +called +any\n/,
    );
    expect(lines).toContain('GET /orders/:id  shop         1  200 ms      0 %  0 %    64 %  64 %');
  });

  it('counts the time of a request there once, whichever threads did not work', async () => {
    const shop = service('shop', [...SHOP, stall(7n, 0, 60)]);
    const stock = service('stock', [REQUEST, stall(4n, 50, 140)]);
    const report = await reportOf(shop, stock);
    expect(
      report.interruptions.slow.map(({ name, stalls, called, either }) => [
        name,
        [stalls, called, either].map(ms),
      ]),
    ).toEqual([
      ['GET /orders/:id', [60, 90, 140]],
      // By its own thread.
      ['GET /stock/:id', [20, 0, 20]],
    ]);
    const request = report.slowest[0]!.rows.find(({ name }) => name === 'GET /stock/:id');
    expect(request).toMatchObject({ stalls: 20e6, collections: 0 });
    const text = [...textReport(report, textStyle(160, false))].join('\n');
    expect(text).toContain('GET /stock/:id (20 ms blocked)');
  });

  it('that a stall of its own thread delayed, is named with whom it asked', async () => {
    const { interruptions } = await reportOf(service('shop', [...SHOP, stall(7n, 50, 100)]));
    expect(interruptions.longest[0]!.delayed).toEqual([
      { name: 'GET /orders/:id', count: 1 },
      { name: 'GET stock.internal:8080', count: 1 },
    ]);
  });

  it('is explained through several services', async () => {
    const paths = [
      service('gate', [
        { id: 10n, name: 'GET /', flags: SERVER, at: [0, 210] },
        { id: 11n, parent: 10n, name: 'GET', flags: CLIENT, at: [0, 205] },
      ]),
      service('shop', [{ ...SHOP[0]!, parent: 11n }, SHOP[1]!]),
      service('stock', [REQUEST, stall(4n, 20, 120)]),
    ];
    const { interruptions } = await reportOf(...paths);
    expect(interruptions.slow.map(({ name, called }) => [name, ms(called)])).toEqual([
      ['GET /', 100],
      ['GET /orders/:id', 100],
      ['GET /stock/:id', 0],
    ]);
  });

  it('is followed to the statement that took its time there, for the route and for the trace', async () => {
    // A thousand requests, 3 ms apart and overlapping; each tenth update in billing takes 40 ms, else 4 ms.
    const requests = Array.from({ length: 1000 }, (_, i) => {
      const id = BigInt(10 * i);
      const trace = id + 1n;
      const took = i % 10 === 0 ? 40 : 4;
      const from = 3 * i;
      const at = (begin: number, end: number): MadeSpan['at'] => [from + begin, from + end];
      return {
        shop: [
          { trace, id: id + 1n, name: 'POST /buy', flags: SERVER, at: at(0, took + 8) },
          {
            ...{ trace, id: id + 2n, parent: id + 1n, name: 'POST', flags: CLIENT },
            at: at(1, took + 7),
          },
        ],
        billing: [
          {
            ...{ trace, id: id + 3n, parent: id + 2n, name: 'POST /charge', flags: SERVER },
            at: at(2, took + 6),
          },
          {
            ...{ trace, id: id + 4n, parent: id + 3n, name: 'UPDATE ledger', flags: CLIENT },
            at: at(4, took + 4),
          },
          // After the request, and of no use to it.
          {
            ...{ trace, id: id + 5n, parent: id + 3n, name: 'audit', flags: CLIENT },
            at: at(took + 20, took + 90),
          },
        ],
      } satisfies Record<string, MadeSpan[]>;
    });
    const report = await reportOf(
      service(
        'shop',
        requests.flatMap(({ shop }) => shop),
      ),
      service(
        'billing',
        requests.flatMap(({ billing }) => billing),
      ),
    );
    const route = report.groups.find(({ name }) => name === 'POST /buy')!;
    const share = (name: string, of: string): number =>
      route.waitedFor.find((each) => each.name === name && each.service === of)!.share;
    const [all, updates] = [1000 * 8 + 7600, 7600];
    expect(route.waitedFor.map(({ name, service: of }) => [name, of])).toEqual([
      ['UPDATE ledger', 'billing'],
      ['POST /charge', 'billing'],
      ['POST /buy', 'shop'],
      ['POST', 'shop'],
    ]);
    expect(share('UPDATE ledger', 'billing')).toBeCloseTo(updates / all, 1);
    expect(share('POST /charge', 'billing')).toBeCloseTo(4000 / all, 1);
    expect(share('POST', 'shop')).toBeCloseTo(2000 / all, 1);
    const lines = [...textReport(report, textStyle(200, false))].join('\n');
    expect(lines).toMatch(/POST \/buy of shop .*: UPDATE ledger in billing \d/);
    expect(lines).toMatch(/POST \/charge of billing .*: UPDATE ledger \d/);
    expect(lines).toContain('waited for UPDATE ledger in billing 40 ms (83.3 %)');
  });

  it('is a pause of the thread that served it, and of no other', async () => {
    const stock = service('stock', [REQUEST, { ...stall(4n, 20, 120), thread: 5 }]);
    const report = await reportOf(service('shop', SHOP), stock);
    expect(waits(report)['trace']).toEqual([
      ['span', 'GET', 'stock.internal:8080', 'shop', 150],
      ['span', 'GET /stock/:id', null, 'stock', 30],
      ['span', 'GET /orders/:id', null, 'shop', 20],
    ]);
    expect(report.interruptions.slow.map(({ either }) => either)).toEqual([0, 0]);
  });

  it('between hosts is explained only as far as the clocks are known', async () => {
    const stock = (spans: MadeSpan[]): string => service('stock', spans, 'b');
    const spans = [REQUEST, stall(4n, 20, 120)];
    // One call: the clocks may differ by all of its 110 ms before the request.
    const unknown = await reportOf(service('shop', SHOP, 'a'), stock(spans));
    expect(unknown.sources[1]).toMatchObject({ clockOffset: 0, clockError: 110e6 });
    expect(waits(unknown)['trace']).not.toContainEqual(expect.arrayContaining(['stall']));
    expect(unknown.interruptions.slow[0]!.called).toBe(0);
    // A second call that takes 2 ms more than its request.
    const call: MadeSpan = { id: 20n, trace: 2n, name: 'GET', flags: CLIENT, at: [500, 502] };
    const quick: MadeSpan = {
      ...{ id: 21n, parent: 20n, trace: 2n, name: 'GET /quick', flags: SERVER, at: [501, 501] },
    };
    const known = await reportOf(
      service('shop', [...SHOP, call], 'a'),
      stock([...spans, quick, stall(5n, 10, 13)]),
    );
    expect(known.sources[1]).toMatchObject({ clockOffset: 0, clockError: 1e6 });
    // The first ms of the call may lie before it.
    expect(ms(known.interruptions.slow[0]!.called)).toBe(102);
    expect(waits(known)['trace']).toContainEqual(['stall', STALL, null, 'stock', 102]);
  });

  it('is not explained if its request begins before it', async () => {
    const early: MadeSpan = { ...REQUEST, at: [5, 150] };
    const report = await reportOf(
      service('shop', SHOP),
      service('stock', [early, stall(4n, 0, 180)]),
    );
    expect(report.interruptions.slow[0]).toMatchObject({ name: 'GET /orders/:id', either: 0 });
    expect(waits(report)['trace']).not.toContainEqual(expect.arrayContaining(['stall']));
  });

  it('takes linear time, however many calls wait for however many pauses', async () => {
    const count = 4000;
    const ids = (i: number) => [BigInt(3 * i + 1), BigInt(3 * i + 2), BigInt(3 * i + 3)] as const;
    const spans = Array.from({ length: count }, (_, i): MadeSpan[] => {
      const [id, call] = ids(i);
      const trace = BigInt(i + 10);
      return [
        { trace, id, name: 'GET /all', flags: SERVER, at: [0, 100_000] },
        { trace, id: call, parent: id, name: 'GET', flags: CLIENT, at: [0, 99_999] },
      ];
    }).flat();
    const requests = Array.from({ length: count }, (_, i): MadeSpan => {
      const [, parent, id] = ids(i);
      return { ...REQUEST, trace: BigInt(i + 10), id, parent, at: [99_000, 99_001] };
    });
    const pauses = Array.from({ length: count }, (_, i) =>
      stall(BigInt(3 * count + i + 10), 10 * i, 10 * i + 5),
    );
    const from = cpuMs();
    const { report } = await reportOn([
      service('shop', spans),
      service('stock', [...requests, ...pauses]),
    ]);
    expect(cpuMs() - from).toBeLessThan(10_000);
    // The first hundred pauses of each call.
    expect(report.interruptions.slow[0]!.called).toBe(count * 100 * 5e6);
  });
});
