import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../cpu-time.js';
import type { Report } from '../../../src/look/report/shape/report-shape.js';
import { textReport } from '../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import { CLIENT, SERVER, service, stall } from './handmade-service.js';
import type { MadeSpan } from './handmade-service.js';
import type { RowAnswer } from '../../../src/look/wire/answers.js';
import { Served } from '../server/served.js';
import { recording, reportOn } from './recorded-service.js';
import { startSpan } from '../../../src/spans/start-span.js';
import type { Span } from '../../../src/spans/span.js';

const cause = (value: string, cpuMs?: number): Pick<MadeSpan, 'attributes'> => {
  const attributes: MadeSpan['attributes'] = [{ name: 'eventloop.cause', type: 'string', value }];
  if (cpuMs !== undefined) {
    attributes.push({ name: 'eventloop.cpu_ms', type: 'f64', value: cpuMs });
  }
  return { attributes };
};
const request = (id: bigint, name: string, from: number, to: number): MadeSpan => {
  return { trace: id, id, name, flags: SERVER, at: [from, to] };
};

/** Two requests wait while a third one blocks the loop for 200 ms; later a lone stall. */
const SHOP: MadeSpan[] = [
  request(1n, 'GET /orders/:id', 50, 420),
  request(2n, 'GET /orders/:id', 60, 410),
  request(3n, 'GET /report/:id', 101, 301),
  { trace: 3n, id: 4n, parent: 3n, name: 'render', at: [105, 298] },
  // Neither took much of it.
  request(5n, 'GET /health', 296, 302),
  request(6n, 'GET /done', 10, 102),
  // Its answer was ready, and had to wait.
  request(7n, 'GET /ready', 90, 299),
  { ...stall(20n, 100, 300), ...cause('held', 104) },
  { ...stall(21n, 900, 960), ...cause('wait') },
  { id: 22n, trace: 9n, name: 'gc major', at: [200, 230] },
];

async function shopReport(condition = {}, slowest = 5): Promise<Report> {
  const { report } = await reportOn([service('shop', SHOP), service('idle', [stall(30n, 0, 55)])], {
    condition,
    slowest,
  });
  return report;
}

function textOf(report: Report): string {
  return [...textReport(report, textStyle(110, false))].join('\n');
}

describe('stalls', () => {
  it('are told by thread, with what ran and what they delayed', async () => {
    const report = await shopReport();
    const { threads, longest, stalls } = report.interruptions;
    expect(
      threads.map(({ kind, service: of, thread, name, count, total }) => [
        ...[kind, of, thread, name, count, total / 1e6],
      ]),
    ).toEqual([
      ['stall', 'shop', 'main', 'event loop blocked', 2, 260],
      ['stall', 'idle', 'main', 'event loop blocked', 1, 55],
      ['collection', 'shop', 'main', 'gc major', 1, 30],
    ]);
    expect(stalls).toMatchObject([{ count: 3, total: 315e6, max: 200e6 }]);
    expect(
      longest.map(({ service: of, start, duration, ...rest }) => [
        ...[of, start.slice(17), duration / 1e6, rest.cause, rest.cpu, rest.ran, rest.delayed],
      ]),
    ).toEqual([
      [
        ...['shop', '20.100000000Z', 200, 'held', 104e6],
        [
          { name: 'render', count: 1 },
          { name: 'GET /report/:id', count: 1 },
        ],
        [
          { name: 'GET /orders/:id', count: 2 },
          { name: 'GET /ready', count: 1 },
        ],
      ],
      ['shop', '20.900000000Z', 60, 'wait', null, [], []],
      ['idle', '20.000000000Z', 55, null, null, [], []],
    ]);
    const text = textOf(report);
    expect(text).toMatch(
      /what +service +thread +count +total +longest\nevent loop blocked +shop +main/,
    );
    expect(text).toContain(
      [
        'The longest stalls:',
        '200 ms of shop, thread main at 2023-11-14 22:13:20.100 UTC',
        '  cause: held (no CPU was free), at least 104 ms (52 %) on a CPU',
        '  ran: render, GET /report/:id',
        '  delayed: GET /orders/:id (2 times), GET /ready',
        '60 ms of shop, thread main at 2023-11-14 22:13:20.900 UTC',
        '  cause: wait (the thread slept)',
        '  no span of this thread was open',
      ].join('\n'),
    );
  });

  it('of many short spans are of the names that took the most time', async () => {
    const short = Array.from({ length: 50 }, (_, i): MadeSpan => {
      return { id: BigInt(i + 40), name: i % 5 === 0 ? 'parse' : 'row', at: [2 * i, 2 * i + 1] };
    });
    const { report } = await reportOn([service('shop', [...short, stall(1n, 0, 100)])]);
    expect(report.interruptions.longest[0]).toMatchObject({
      ran: [
        { name: 'row', count: 40 },
        { name: 'parse', count: 10 },
      ],
      delayed: [],
    });
  });

  it('that a span may have caused that began before them name that one', async () => {
    const spans = [request(1n, 'GET /import', 10, 195), stall(20n, 100, 200)];
    const { report } = await reportOn([service('shop', spans)]);
    expect(report.interruptions.longest[0]).toMatchObject({
      ran: [{ name: 'GET /import', count: 1 }],
      delayed: [],
    });
  });

  it('delay requests that the thread has not read yet', async () => {
    const gate: MadeSpan[] = [
      request(1n, 'GET /', 0, 500),
      { trace: 1n, id: 2n, parent: 1n, name: 'GET', flags: CLIENT, at: [110, 400] },
    ];
    const late: MadeSpan = { ...request(1n, 'GET /late', 300, 390), id: 3n, parent: 2n };
    const value = 'at parse (/app/import.js:7:3)';
    const shop: MadeSpan[] = [
      { ...stall(20n, 100, 299), attributes: [{ name: 'code.stacktrace', type: 'string', value }] },
      late,
    ];
    const paths = [service('gate', gate), service('shop', shop)];
    const { report, rows } = await reportOn(paths);
    const delays = { ran: [], delayed: [{ name: 'GET /late', count: 1 }] };
    expect(report.interruptions.longest[0]).toMatchObject(delays);
    const served = await Served.of(...paths);
    try {
      const [row] = rows.stalls;
      expect(rows.threads).toEqual([row]);
      const about = await served.json<RowAnswer>('/data/row', { row: row! });
      const ran = 'parse (app/import.js:7)';
      expect(about).toMatchObject({ name: 'event loop blocked', duration: 199e6, ...delays, ran });
    } finally {
      await served.close();
    }
    // What was delayed is shown even if it ran at another time.
    const delayed = await reportOn(paths, { condition: { name: 'event loop blocked' } });
    expect(delayed.report.slowest.map(({ name, spans }) => [name, spans])).toEqual([
      ['GET /late', 3],
    ]);
  });

  it('asked for alone show the traces that they delayed', async () => {
    const report = await shopReport({ name: 'event loop blocked' });
    expect(report.slowestOf).toBe('delayed');
    expect(
      report.slowest.map(({ name, duration, delayedBy }) => [name, duration, delayedBy]),
    ).toEqual([
      [
        'GET /orders/:id',
        370e6,
        {
          ...{ name: 'event loop blocked', service: 'shop', pid: null, thread: 'main' },
          ...{ start: '2023-11-14T22:13:20.100000000Z', duration: 200e6 },
        },
      ],
    ]);
    const text = textOf(report);
    expect(text).toContain('Slowest traces that these delayed\n1. GET /orders/:id of shop: 370 ms');
    expect(text).toContain(
      'met "event loop blocked" of shop, thread main: 200 ms from 2023-11-14 22:13:20.100 UTC',
    );
    const collections = await shopReport({ name: 'gc major' });
    expect(collections.slowest).toHaveLength(1);
    const alone = await shopReport({ name: 'event loop blocked', service: 'idle' });
    expect(alone.slowest).toEqual([]);
    expect(textOf(alone)).toContain('No trace is shown: no other span was open on these threads');
    const none = await shopReport({ name: 'event loop blocked' }, 0);
    expect(textOf(none)).not.toContain('No trace is shown');
    expect((await shopReport()).slowestOf).toBe('spans');
  });

  it('take linear time, however many spans lie around them', async () => {
    const count = 20_000;
    const spans = Array.from({ length: count }, (_, i): MadeSpan => {
      return request(BigInt(i + 2), `GET /${i}`, i % 3, 1000 + (i % 5));
    });
    const pauses = Array.from({ length: 200 }, (_, i) =>
      stall(BigInt(count + i + 2), 5 * i, 5 * i + 4),
    );
    const from = cpuMs();
    const { report } = await reportOn([service('shop', [...spans, ...pauses])], {
      condition: { name: 'event loop blocked' },
      slowest: 100,
    });
    expect(cpuMs() - from).toBeLessThan(20_000);
    expect(report.interruptions.longest).toHaveLength(10);
    expect(report.slowest).toHaveLength(1);
  });

  it('of a line say how many requests of each route they delayed, without the one that ran', async () => {
    const begin = BigInt(Date.now() - 60_000) * 1_000_000n;
    const { path } = await recording(
      () => {
        const at = (ms: number): bigint => begin + BigInt(ms) * 1_000_000n;
        const request = (name: string, from: number, to: number): Span => {
          const span = startSpan(name, {}, { kind: 'server', parent: null, startTime: at(from) });
          span.end(at(to));
          return span;
        };
        for (const from of [1000, 2000]) {
          const ran = request('POST /import', from + 20, from + 320);
          for (const wait of [0, 5, 10]) request('GET /orders', from + wait, from + 330);
          // Its answer was ready; the others ended before, or began after.
          request('POST /buy', from + 10, from + 310);
          request('GET /orders', from - 50, from + 15);
          request('GET /orders', from + 325, from + 400);
          const links = [{ to: ran }];
          startSpan(
            'event loop blocked',
            {
              'eventloop.cause': 'code',
              'eventloop.open_spans': 4,
              'eventloop.request': 'POST /import',
              'code.stacktrace': 'at parse (/app/import.js:7:3)',
            },
            { parent: null, startTime: at(from + 20), links },
          ).end(at(from + 320));
        }
      },
      { service: 'shop' },
    );
    const { report } = await reportOn([path]);
    expect(report.interruptions.lines).toMatchObject([
      {
        ...{ line: '/app/import.js:7', count: 2, delayed: 8 },
        ranIn: [{ name: 'POST /import', count: 2 }],
        requests: [
          { name: 'GET /orders', count: 6 },
          { name: 'POST /buy', count: 2 },
        ],
      },
    ]);
    const narrow = [...textReport(report, textStyle(80, false), [], 'screen')];
    expect(narrow).toContainEqual(
      expect.stringMatching(/^parse .*POST \/import +600 ms +300 ms +GET \/…ders 6, and 1 more$/),
    );
    const note = 'Stalls, threads and memory are of the whole process: --where does not apply.';
    for (const choice of ['all', 'screen', ['stalls', 'threads']] as const) {
      const linesOf = (where: readonly string[]): string[] => [
        ...textReport(report, textStyle(110, false), where, choice),
      ];
      expect(linesOf(['--where name=x']).filter((line) => line === note)).toHaveLength(1);
      expect(linesOf(['--since +1s'])).not.toContain(note);
    }
    expect(textOf(report)).toMatch(
      /^parse \(app\/import\.js:7\) +POST \/import +2 +600 ms +300 ms +GET \/orders 6, POST \/buy 2$/m,
    );
  });
});
