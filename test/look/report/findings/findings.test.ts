import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../../src/look/report/shape/finding-shape.js';
import type { Span } from '../../../../src/spans/span.js';
import { startSpan } from '../../../../src/spans/start-span.js';
import type { Report } from '../../../../src/look/report/shape/report-shape.js';
import { durationText } from '../../../../src/look/report/measures/units.js';
import { recording, reportOn, seededNumbers } from '../recorded-service.js';

const MS = 1_000_000n;

interface Request {
  span: Span;
  /** Of all requests. */
  number: number;
  /** Ns since 1970. */
  start: bigint;
  random: () => number;
}

/** A call below a span, from `at` to `at + length` ms after the request's start. */
function call(
  { start }: Request,
  parent: Span,
  name: string,
  at: number,
  length: number,
  attributes: Record<string, string> = { 'db.system.name': 'postgresql' },
): Span {
  const startTime = start + BigInt(Math.round(at * 1000)) * 1000n;
  const span = startSpan(name, attributes, { kind: 'client', parent, startTime });
  return Object.assign(span, { endLater: startTime + BigInt(Math.round(length * 1000)) * 1000n });
}

function endCall(span: Span): void {
  span.end((span as Span & { endLater: bigint }).endLater);
}

/** Findings on `count` requests of GET /orders/:id within so many seconds; `serve` returns how many ms each takes. */
async function findingsOn(
  serve: (request: Request) => number,
  { count = 300, seconds = 60 } = {},
): Promise<Finding[]> {
  return (await reportOf(serve, { count, seconds })).findings;
}

async function reportOf(
  serve: (request: Request) => number,
  { count = 300, seconds = 60 } = {},
): Promise<Report> {
  const numbers = seededNumbers(11);
  // The recording ends now.
  const begin = BigInt(Date.now() - seconds * 1000) * MS;
  const { path } = await recording(
    () => {
      for (let number = 0; number < count; number++) {
        const start = begin + (BigInt(number) * BigInt(seconds) * 1000n * MS) / BigInt(count);
        const attributes = { 'http.route': '/orders/:id' };
        const options = { kind: 'server', parent: null, startTime: start } as const;
        const span = startSpan('GET /orders/:id', attributes, options);
        const random = (): number => numbers.next().value;
        const length = serve({ span, number, start, random });
        span.end(start + BigInt(Math.round(length * 1000)) * 1000n);
      }
    },
    { service: 'shop' },
  );
  return (await reportOn([path])).report;
}

const rulesOf = (findings: readonly Finding[]): string[] => findings.map(({ rule }) => rule);

/** Calls one after the other; their ms. */
function calls(request: Request, names: readonly string[], length: number): number {
  for (const [at, name] of names.entries()) {
    endCall(call(request, request.span, name, at * length, length));
  }
  return names.length * length;
}

const PRODUCTS = Array.from({ length: 40 }, () => 'SELECT products');

describe('findings', () => {
  it('are none of a healthy service', async () => {
    const findings = await findingsOn((request) => {
      const { random, span, number } = request;
      const time = calls(request, ['SELECT orders', 'SELECT items', 'SELECT items'], 1 + random());
      // Once in a while something fails, and something is slow.
      if (number === 100) span.fail(new Error('once'));
      return random() < 0.02 ? 10 * time : time;
    });
    expect(findings).toEqual([]);
  });

  it('say how much of the time was blocked next to the share of repeated calls', async () => {
    const [finding] = await findingsOn((request) => {
      calls(request, PRODUCTS, 1);
      endCall(call(request, request.span, 'SELECT orders', 40, 60));
      const attributes = { 'eventloop.cause': 'code', 'eventloop.request': 'GET /search' };
      const startTime = request.start + 50n * MS;
      startSpan('event loop blocked', attributes, { parent: null, startTime }).end(
        startTime + 50n * MS,
      );
      return 100;
    });
    expect(finding).toMatchObject({
      text: expect.stringMatching(/ about 40 % of its time$/) as string,
      evidence: "in 300 of 300 requests, 1 ms a call; 50 % of the route's time was blocked",
    });
  });

  it('name repeated calls, with figures and a trace', async () => {
    const [finding, ...others] = await findingsOn(
      (request) => calls(request, ['SELECT orders', ...PRODUCTS], 1) + 4,
    );
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      rule: 'repeated calls',
      loss: 'time',
      service: 'shop',
      text: 'GET /orders/:id of shop calls SELECT products 40 times a request, one after the other: about 89 % of its time',
      evidence: 'in 300 of 300 requests, 1 ms a call',
      section: 'callees',
    });
    expect(finding!.trace).toMatch(/^[\da-f]{32}$/);
    expect(finding!.lost / 1e9).toBeCloseTo(300 * 0.04, 1);
  });

  it('see repeated calls below spans of an ORM that have one call each', async () => {
    const findings = await findingsOn((request) => {
      for (let at = 0; at < 12; at++) {
        const { start, span: parent } = request;
        const startTime = start + BigInt(at) * MS;
        const orm = startSpan('Product.find', {}, { parent, startTime });
        endCall(call(request, orm, 'SELECT products', at, 1));
        orm.end(startTime + MS);
      }
      return 13;
    });
    expect(rulesOf(findings)).toEqual(['repeated calls']);
  });

  it.each([
    [
      'at the same time',
      (request: Request) => {
        for (let at = 0; at < 40; at++) endCall(call(request, request.span, 'SELECT', 0, 10));
        return 12;
      },
    ],
    ['of nine', (request: Request) => calls(request, PRODUCTS.slice(0, 9), 1)],
    ['that take a twentieth of the time', (request: Request) => calls(request, PRODUCTS, 1) + 760],
    [
      'in two of five requests',
      (request: Request) => calls(request, request.number % 5 < 2 ? PRODUCTS : ['SELECT'], 1),
    ],
  ])('do not name calls %s', async (_, serve) => {
    expect(rulesOf(await findingsOn(serve))).not.toContain('repeated calls');
  });

  it('need half a minute, fifty requests, and two thirds of the time', async () => {
    const serve = (request: Request): number => calls(request, PRODUCTS, 1);
    expect(await findingsOn(serve, { seconds: 25 })).toEqual([]);
    expect(await findingsOn(serve, { count: 49 })).toEqual([]);
    const late = await findingsOn((request) =>
      calls(request, request.number < 200 ? ['SELECT'] : [...PRODUCTS, ...PRODUCTS], 1),
    );
    expect(late).toEqual([]);
  });

  it('name one cause of failures once, whatever it passes through', async () => {
    const findings = await findingsOn((request) => {
      const { span, number, start } = request;
      if (number % 10 !== 0) return calls(request, ['INSERT orders'], 2);
      const error = new RangeError(`no stock of ${number}`);
      const handler = startSpan('handler', {}, { parent: span, startTime: start });
      handler.fail(error).end(start + 3n * MS);
      span.fail(error);
      return 4;
    });
    expect(rulesOf(findings)).toEqual(['failures']);
    expect(findings[0]).toMatchObject({ loss: 'requests', lost: 30, section: 'errors' });
    expect(findings[0]!.text).toMatch(
      /^GET \/orders\/:id of shop fails, 10 % of its requests: RangeError at findings\/findings\.test\.ts:\d+: "no stock of \?"$/,
    );
  });

  it('say that failures are an estimate where not all of them were read', async () => {
    const [finding] = await findingsOn(
      ({ span }) => {
        span.fail(new Error('always'));
        return 2;
      },
      { count: 6000 },
    );
    expect(finding!.text).toMatch(
      /^GET \/orders\/:id of shop fails, about 100 % of its requests: /,
    );
    expect(finding!.evidence).toMatch(/^about 6,000 of 6,000 requests, /);
  });

  it('do not name failures below a percent, nor calls that fail while requests do not', async () => {
    const few = await findingsOn(
      ({ span, number }) => {
        if (number % 200 === 0) span.fail(new Error('rare'));
        return 2;
      },
      { count: 1000 },
    );
    expect(few).toEqual([]);
    const handled = await findingsOn((request) => {
      endCall(call(request, request.span, 'GET cache', 0, 1).fail(new Error('miss')));
      return 2;
    });
    expect(handled).toEqual([]);
  });

  it('name the callee of a slow tail', async () => {
    const findings = await findingsOn((request) => {
      const { number, random } = request;
      const length = number % 12 === 0 ? 600 + 100 * random() : 10;
      endCall(call(request, request.span, 'quote', 1, length));
      return length + 2;
    });
    expect(rulesOf(findings)).toEqual(['dominated tail']);
    expect(findings[0]!.text).toMatch(
      /^GET \/orders\/:id of shop is slow at times: p95 6\d\d ms, p50 12 ms; its slowest 5 % wait for quote, about 99 % of their time$/,
    );
  });

  it('do not name the callee of a tail that a blocked event loop made', async () => {
    const findings = await findingsOn((request) => {
      const { number, start } = request;
      const length = number % 12 === 0 ? 600 : 10;
      endCall(call(request, request.span, 'quote', 1, length));
      if (length === 600) {
        const options = { parent: null, startTime: start + 2n * MS };
        startSpan('event loop blocked', {}, options).end(start + 500n * MS);
      }
      return length + 2;
    });
    expect(rulesOf(findings)).not.toContain('dominated tail');
  });

  it('name the callee of a slow tail, though the slowest of all were blocked', async () => {
    const findings = await findingsOn((request) => {
      const { number, start } = request;
      const isBlocked = number % 18 === 1;
      const length = number % 10 === 0 ? 600 : 10;
      if (isBlocked) {
        const options = { parent: null, startTime: start + 2n * MS };
        startSpan('event loop blocked', {}, options).end(start + 900n * MS);
        return 910;
      }
      endCall(call(request, request.span, 'quote', 1, length));
      return length + 2;
    });
    expect(rulesOf(findings)).toEqual(['dominated tail']);
    expect(findings[0]!.text).toMatch(
      /: p95 910 ms, p50 12 ms; its slowest 5 % wait for quote, about \d+ % of their time$/,
    );
    expect(findings[0]!.evidence).toMatch(
      /^[\d,]+ requests; not counting blocked event loops, p95 602 ms$/,
    );
  });

  it('lead from a slow tail to a request that was not blocked, and say the share that is judged', async () => {
    const blocked = new Set<string>();
    const findings = await findingsOn((request) => {
      const { number, start, span } = request;
      // Of the slow ones every third is blocked for half of its time, before its call.
      const isBlocked = number % 36 === 0;
      const length = number % 12 === 0 ? 600 : 10;
      endCall(call(request, span, 'quote', isBlocked ? 900 : 1, length));
      if (!isBlocked) return length + 2;
      blocked.add(span.ids.trace_id);
      const options = { parent: null, startTime: start + 1n * MS };
      startSpan('event loop blocked', {}, options).end(start + 700n * MS);
      return length + 902;
    });
    const tail = findings.find(({ rule }) => rule === 'dominated tail')!;
    const [, share] = /wait for quote, about (\d+) % of their time$/.exec(tail.text)!;
    expect(Number(share)).toBeGreaterThanOrEqual(70);
    expect(tail.trace).toMatch(/^[\da-f]{32}$/);
    expect(blocked).not.toContain(tail.trace);
  });

  it('name a timeout, and the retries before a failure', async () => {
    const findings = await findingsOn((request) => {
      const { span, number } = request;
      if (number % 10 !== 0) return calls(request, ['quote'], 5);
      endCall(call(request, span, 'quote', 0, 1000 + (number % 3)).fail(new Error('timeout')));
      endCall(call(request, span, 'quote', 1010, 1000).fail(new Error('timeout')));
      endCall(call(request, span, 'quote', 2020, 5));
      return 2030;
    });
    expect(rulesOf(findings).toSorted()).toEqual(['constant timeout', 'dominated tail', 'retries']);
    const [timeout] = findings;
    expect(timeout!.text).toBe('quote of shop fails after 1 s each time: a timeout');
    expect(timeout!.evidence).toMatch(/^60 calls, 1 s to 1 s$/);
    const retries = findings.find(({ rule }) => rule === 'retries')!;
    expect(retries.text).toMatch(/three calls or more in 30 of 300 requests$/);
  });

  it.each([
    ['name a partner that answers after 700 ms each time', 700, 0, ['constant timeout']],
    ['name no partner that answers after 2 ms each time', 2, 0, []],
    ['name no partner that answers after half a second or more', 500, 400, []],
  ])('%s', async (_, least, spread, rules) => {
    const findings = await findingsOn((request) => {
      const length = least + spread * request.random();
      const http = { 'http.request.method': 'GET', 'server.address': 'partner' };
      endCall(call(request, request.span, 'GET', 0, length, http));
      return length + 1;
    });
    expect(rulesOf(findings)).toEqual(rules);
    if (rules.length === 0) return;
    expect(findings[0]).toMatchObject({
      text: 'GET partner of shop takes 700 ms each time: a sleep or a timeout in it',
      evidence: 'about 100 % of the calls by GET /orders/:id, 700 ms to 700 ms',
    });
  });

  it('take no failures at all times for a timeout', async () => {
    const findings = await findingsOn((request) => {
      const { span, number, random } = request;
      const length = number % 10 === 0 ? 500 + 3000 * random() : 5;
      const quote = call(request, span, 'quote', 0, length);
      if (length > 5) quote.fail(new Error('refused'));
      endCall(quote);
      return length + 1;
    });
    expect(rulesOf(findings)).not.toContain('constant timeout');
  });

  it('name the pool that requests wait for, and who holds it', async () => {
    let before: { span: Span; end: bigint } | undefined;
    const findings = await findingsOn((request) => {
      const { span, start } = request;
      const waits = before !== undefined;
      if (waits) {
        const links = [{ to: before!.span, attributes: { 'tracewright.pool.held': 30e6 } }];
        const options = { parent: span, startTime: start, links };
        startSpan('generic pool', {}, options).end(start + 30n * MS);
      }
      endCall(call(request, span, 'SELECT orders', 30, 5));
      before = { span, end: start + 36n * MS };
      return 36;
    });
    expect(rulesOf(findings)).toEqual(['pool is the queue']);
    expect(findings[0]!.text).toBe(
      'generic pool of shop is too small: GET /orders/:id waits 30 ms of its 36 ms for a connection (p95)',
    );
    expect(findings[0]!.evidence).toMatch(
      /^299 waits of 8.97 s together, held by GET \/orders\/:id/,
    );
  });

  it('say how long all requests wait for a pool, next to the p95 that the table has', async () => {
    const times: number[] = [];
    const { findings, groups } = await reportOf((request) => {
      const { span, start, random } = request;
      const wait = Math.round(20 + 100 * random() ** 4);
      times.push(wait);
      const links = [{ to: span, attributes: { 'tracewright.pool.held': 30e6 } }];
      const options = { parent: span, startTime: start, links };
      startSpan('generic pool', {}, options).end(start + BigInt(wait) * MS);
      return wait + Math.round(40 * random());
    });
    const pool = findings.find(({ rule }) => rule === 'pool is the queue')!;
    const p95 = times.toSorted((a, b) => a - b)[Math.ceil(0.95 * times.length) - 1]!;
    expect(pool.text).toBe(
      `generic pool of shop is too small: GET /orders/:id waits ${p95} ms of its ${durationText(groups[0]!.p95)} for a connection (p95)`,
    );
  });

  it('lead to a request that waited for the holder that they name', async () => {
    const rare = new Set<string>();
    const findings = await findingsOn(({ span, number, start }) => {
      const name = number < 6 ? 'POST /rare' : 'GET /export';
      if (number < 6) rare.add(span.ids.trace_id);
      const holder = startSpan(name, {}, { kind: 'server', parent: null, startTime: start });
      const links = [{ to: holder, attributes: { 'tracewright.pool.held': 30e6 } }];
      const options = { parent: span, startTime: start, links };
      startSpan('generic pool', {}, options).end(start + 30n * MS);
      holder.end(start + 30n * MS);
      return 36;
    });
    const finding = findings.find(({ rule }) => rule === 'pool is the queue')!;
    expect(finding.evidence).toContain('held by GET /export');
    expect(finding.trace).toMatch(/^[\da-f]{32}$/);
    expect(rare).not.toContain(finding.trace);
  });

  it.each([
    ['held', 0],
    ['code', 1],
  ])(
    'take waits while the loop was blocked, %s, for a small pool: %d times',
    async (cause, times) => {
      const findings = await findingsOn((request) => {
        const { span, start, number } = request;
        // For a second of every ten, requests queue up.
        if (number % 50 >= 5) return calls(request, ['SELECT orders'], 5);
        if (number % 50 === 0) {
          const attributes = {
            'eventloop.cause': cause,
            'code.stacktrace': 'at parse (/app/import.js:7:3)',
          };
          startSpan('event loop blocked', attributes, { parent: null, startTime: start }).end(
            start + 600n * MS,
          );
        }
        const links = [{ to: span, attributes: { 'tracewright.pool.held': 30e6 } }];
        const options = { parent: span, startTime: start, links };
        startSpan('generic pool', {}, options).end(start + 30n * MS);
        endCall(call(request, span, 'SELECT orders', 30, 5));
        return 36;
      });
      const pools = rulesOf(findings).filter((rule) => rule === 'pool is the queue');
      expect(pools).toHaveLength(times);
    },
  );
});
