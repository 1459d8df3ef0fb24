import { describe, expect, it } from 'vitest';
import { extract } from '../../../src/spans/propagation.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { parseWhere } from '../../../src/look/condition/where.js';
import { textReport } from '../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import { recording, reportOn, serviceRequests } from './recorded-service.js';

const NOW = BigInt(Date.now()) * 1_000_000n;

/** A request of so many milliseconds with a query and a call in it. */
function request(route: string, at: number, milliseconds: number): void {
  const start = NOW + BigInt(at) * 1_000_000n;
  const after = (part: number): bigint => start + BigInt(Math.round(part * milliseconds * 1e6));
  const attributes = { 'http.route': route };
  const options = { kind: 'server', parent: null, startTime: start } as const;
  const whole = startSpan(`GET ${route}`, attributes, options);
  startSpan('SELECT', {}, { parent: whole, startTime: after(0.1) }).end(after(0.3));
  startSpan('call', {}, { kind: 'client', parent: whole, startTime: after(0.4) }).end(after(0.9));
  whole.end(after(1));
}

describe('a report', () => {
  it('names the attribute that a condition may mean, if nothing meets it', async () => {
    const shop = await recording(
      () => {
        request('/cart', 500, 40);
      },
      { service: 'shop' },
    );
    const about = async (where: string) =>
      reportOn([shop.path], { condition: parseWhere([where]) });
    const { report } = await about('http.ruote=/cart');
    expect(report.unknownAttributes).toEqual([{ name: 'http.ruote', near: 'http.route' }]);
    const text = [...textReport(report, textStyle(100, false))].join('\n');
    expect(text).toContain('has the attribute http.ruote: did you mean http.route?');
    const nearOf = async (where: string) =>
      (await about(where)).report.unknownAttributes.map(({ near }) => near);
    expect(await nearOf('route=/cart')).toEqual(['http.route']);
    expect(await nearOf('attribute.route=/cart')).toEqual(['http.route']);
    expect(await nearOf('method=GET')).toEqual([]);
    expect((await about('http.route=/none')).report.unknownAttributes).toEqual([]);
    expect((await about('http.route=/cart')).report.unknownAttributes).toEqual([]);
  });

  it('has requests by service and route', async () => {
    const shop = await recording(
      () => {
        for (let i = 1; i <= 100; i++) request('/orders/:id', i, i);
        request('/cart', 500, 40);
      },
      { service: 'shop' },
    );
    const stock = await recording(
      () => {
        request('/cart', 500, 20);
      },
      { service: 'stock' },
    );
    const { report } = await reportOn([shop.path, stock.path]);
    expect(report.by).toBe('route');
    expect(
      report.groups.map(({ name, service, count, p50, p95, p99, max }) => ({
        name,
        service,
        count,
        ms: [p50, p95, p99, max].map((ns) => ns / 1e6),
      })),
    ).toEqual([
      { name: 'GET /orders/:id', service: 'shop', count: 100, ms: [50, 95, 99, 100] },
      { name: 'GET /cart', service: 'shop', count: 1, ms: [40, 40, 40, 40] },
      { name: 'GET /cart', service: 'stock', count: 1, ms: [20, 20, 20, 20] },
    ]);
    const total = report.groups.reduce((sum, group) => sum + group.total, 0);
    expect(total).toBe(5110e6);
    expect(report.groups[0]!.share).toBeCloseTo(5050 / 5110);
    expect(report.groups[0]!.rate).toBeCloseTo(100 / (report.sources[0]!.recorded / 1e9));
    expect(report.timeline.count.reduce((sum, count) => sum + count)).toBe(102);
    const byService = await reportOn([shop.path, stock.path], { by: 'service' });
    expect(byService.report.groups.map(({ name, count }) => [name, count])).toEqual([
      ['shop', 101],
      ['stock', 1],
    ]);
    const byName = await reportOn([shop.path, stock.path], { by: 'name' });
    expect(byName.report.groups.map(({ name, service, count }) => [name, service, count])).toEqual([
      ['GET /orders/:id', 'shop', 100],
      ['call', 'shop', 101],
      ['SELECT', 'shop', 101],
      ['GET /cart', 'shop', 1],
      ['GET /cart', 'stock', 1],
      ['call', 'stock', 1],
      ['SELECT', 'stock', 1],
    ]);
  });

  it('shows what the slowest traces waited for', async () => {
    const { path } = await recording(() => {
      for (let i = 1; i <= 20; i++) request('/orders/:id', 0, i);
    });
    const { report } = await reportOn([path], { slowest: 2 });
    expect(report.slowest.map(({ name, duration, spans }) => [name, duration, spans])).toEqual([
      ['GET /orders/:id', 20e6, 3],
      ['GET /orders/:id', 19e6, 3],
    ]);
    const [slowest] = report.slowest;
    expect(slowest!.waitedFor.map(({ name, time }) => [name, time])).toEqual([
      ['call', 10e6],
      ['GET /orders/:id', 6e6],
      ['SELECT', 4e6],
    ]);
    expect(slowest!.rows.map(({ depth, name, start, self }) => [depth, name, start, self])).toEqual(
      [
        [0, 'GET /orders/:id', 0, 6e6],
        [1, 'SELECT', 2e6, 4e6],
        [1, 'call', 8e6, 10e6],
      ],
    );
  });

  it('shows what the spans of each group waited for, of some if there are many', async () => {
    const { path } = await recording(
      () => {
        // Half of the time is that of five requests.
        for (let i = 1; i <= 250; i++) request('/orders/:id', i, i % 50 === 0 ? 245 : 5);
        for (let i = 1; i <= 30; i++) {
          const options = { kind: 'server', parent: null, startTime: NOW } as const;
          const whole = startSpan('GET', {}, options);
          const asked = { kind: 'client', parent: whole, startTime: NOW + 1_000n } as const;
          startSpan('GET', {}, asked).end(NOW + 9_000n);
          whole.end(NOW + 10_000n);
        }
      },
      { service: 'shop' },
    );
    const { report } = await reportOn([path]);
    const shares = report.groups.map(({ name, sampled, waitedFor }) => [
      name,
      sampled <= 100,
      ...waitedFor.map((each) => [each.name, each.isItself, Math.round(100 * each.share)]),
    ]);
    expect(shares).toEqual([
      [
        'GET /orders/:id',
        true,
        ['call', false, 50],
        ['GET /orders/:id', true, 30],
        ['SELECT', false, 20],
      ],
      ['GET', true, ['GET', false, 80], ['GET', true, 20]],
    ]);
    const lines = [...textReport(report, textStyle(100, false))];
    const title = lines.indexOf('What routes waited for');
    expect(lines.slice(title + 1, title + 3)).toEqual([
      `GET /orders/:id of shop (estimated from ${report.groups[0]!.sampled} of 250): call 50 %, own time 30 %, SELECT 20 %`,
      'GET (no route) of shop: GET 80 %, own time 20 %',
    ]);
  });

  it('estimates what a group waited for by the time of its spans, and not by their number', async () => {
    const { path } = await recording(() => {
      for (let i = 0; i < 2000; i++) {
        const isSlow = i % 100 === 37;
        const startTime = NOW + BigInt(i) * 1_000_000n;
        const end = startTime + (isSlow ? 297_000n : 1_000n);
        const options = { kind: 'server', parent: null, startTime } as const;
        const whole = startSpan('GET /mixed', {}, options);
        startSpan(isSlow ? 'slow query' : 'quick query', {}, { parent: whole, startTime }).end(end);
        whole.end(end);
      }
    });
    const { report } = await reportOn([path]);
    const [group] = report.groups;
    expect(group!.sampled).toBeLessThanOrEqual(100);
    const shares = group!.waitedFor.map(({ name, share }) => [name, Math.round(100 * share)]);
    // 20 times 297 µs, and 1,980 times 1 µs.
    expect(shares).toEqual([
      ['slow query', expect.closeTo(75, -1)],
      ['quick query', expect.closeTo(25, -1)],
    ]);
  });

  it('estimates the time of calls also where few slow requests have almost all of it', async () => {
    const { path } = await recording(() => {
      for (let i = 0; i < 2000; i++) {
        const startTime = NOW + BigInt(i) * 100_000_000n;
        const end = startTime + (i % 100 === 37 ? 90_000_000n : 10_000n);
        const whole = startSpan('GET /mixed', {}, { kind: 'server', parent: null, startTime });
        startSpan('GET', {}, { kind: 'client', parent: whole, startTime }).end(end);
        whole.end(end);
      }
    });
    const { report } = await reportOn([path]);
    const [callee] = report.callees;
    expect(callee!.total / 1e6).toBeCloseTo(20 * 90 + 1980 * 0.01, -3);
    expect(callee!.count).toBeCloseTo(2000, -1);
  });

  it('never takes a span for a root whose parent is missing', async () => {
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    const { path } = await recording(() => {
      const parent = extract({ traceparent })!;
      const options = { kind: 'server', parent, startTime: NOW } as const;
      startSpan('GET /orders/:id', {}, options).end(NOW + 50_000_000n);
      request('/cart', 0, 10);
    });
    const { report } = await reportOn([path]);
    expect(report.completeness).toEqual({
      spans: 4,
      traces: 2,
      incompleteTraces: 1,
      missingParents: 1,
      begunBefore: 0,
    });
    expect(report.slowest.map(({ rows }) => rows[0]!.missingParent)).toEqual([true, false]);
    const text = [...textReport(report, textStyle(100, false))].join('\n');
    expect(text).toContain(
      '1 trace is incomplete: 1 span has a parent that is not in the recording',
    );
    expect(text).toContain('GET /orders/:id (its parent is missing)');
  });

  it('is of a part of the recording', async () => {
    const { path } = await recording(() => {
      serviceRequests(2000);
    });
    const counts = async (condition: object): Promise<number> => {
      const { report } = await reportOn([path], { condition, by: 'route' });
      return report.groups.reduce((sum, { count }) => sum + count, 0);
    };
    expect(await counts({})).toBe(2000);
    // Evenly over ten seconds; those that are longer than a moment are in both.
    const [early, late] = [await counts({ to: 4e9 }), await counts({ from: 4e9 })];
    expect(early).toBe(800);
    expect(late).toBeGreaterThanOrEqual(1200);
    expect(late).toBeLessThan(1300);
    expect(await counts({ attributes: [{ name: 'user', value: '3' }] })).toBe(200);
    const failed = await counts({ status: 'error' });
    const { report } = await reportOn([path]);
    expect(failed).toBe(report.groups.reduce((sum, { errors }) => sum + errors, 0));
    expect(failed).toBeGreaterThan(50);
    const none = await reportOn([path], { condition: { name: 'nothing' } });
    expect(none.report.groups).toEqual([]);
    const given = ['--since +1s', '--where name=nothing'];
    for (const choice of ['all', 'screen'] as const) {
      expect([...textReport(none.report, textStyle(80, false), given, choice)]).toEqual([
        'There is no span that meets --since +1s and --where name=nothing.',
      ]);
    }
  });

  it('says how much of the slow requests stalls and collections explain', async () => {
    const { path } = await recording(() => {
      for (let i = 0; i < 19; i++) request('/orders/:id', 10 * i, 1);
      request('/orders/:id', 1000, 100);
      const stall = startSpan(
        'event loop blocked',
        {},
        { parent: null, startTime: NOW + 1_020_000_000n },
      );
      stall.end(NOW + 1_070_000_000n);
      const collection = startSpan(
        'gc major',
        {},
        { parent: null, startTime: NOW + 1_060_000_000n },
      );
      collection.end(NOW + 1_080_000_000n);
    });
    const { report } = await reportOn([path], { slowest: 1 });
    const { stalls, collections, slow } = report.interruptions;
    expect(stalls).toEqual([{ name: 'event loop blocked', count: 1, total: 50e6, max: 50e6 }]);
    expect(collections).toEqual([{ name: 'gc major', count: 1, total: 20e6, max: 20e6 }]);
    // The slowest 5 % of twenty begin with the 19th.
    const time = slow[0]!.time;
    expect(slow[0]).toMatchObject({ stalls: 50e6, collections: 20e6, either: 60e6 });
    expect(time).toBeGreaterThanOrEqual(100e6);
    expect(report.slowest[0]).toMatchObject({ duration: 100e6, stalls: 50e6, collections: 20e6 });
    expect(report.threads).toMatchObject([{ thread: 'main', stalls: 50e6, collections: 20e6 }]);
  });

  it('has percentiles within 1 %, and exact ones', async () => {
    const { path, spans } = await recording(() => {
      serviceRequests(20_000);
    });
    const groups = new Map<string, number[]>();
    for (const { name, start, end } of spans) {
      const durations = groups.get(name) ?? [];
      groups.set(name, durations);
      durations.push(Number(end - start));
    }
    const exact = await reportOn([path], { by: 'name', exact: true });
    const close = await reportOn([path], { by: 'name' });
    expect(exact.report.groups).toHaveLength(5);
    for (const [at, group] of exact.report.groups.entries()) {
      const sorted = groups.get(group.name)!.sort((a, b) => a - b);
      for (const [key, percent] of [
        ['p50', 50],
        ['p95', 95],
        ['p99', 99],
      ] as const) {
        const right = sorted[Math.ceil((sorted.length * percent) / 100) - 1]!;
        expect(group[key]).toBe(right);
        expect(Math.abs(close.report.groups[at]![key] / right - 1)).toBeLessThan(0.01);
      }
    }
  });

  it('says which condition selects the spans of a group', async () => {
    const { path } = await recording(
      () => {
        const server = { kind: 'server', parent: null, startTime: NOW } as const;
        for (let i = 1; i <= 3; i++) request('/orders/:id', i, i);
        startSpan('GET', { 'http.route': '/users/:id' }, server).end(NOW + 5_000_000n);
        startSpan('GET', { 'url.path': '/export/7' }, server).end(NOW + 4_000_000n);
        startSpan('GET', {}, { ...server, kind: 'client' }).end(NOW + 3_000_000n);
      },
      { service: 'shop' },
    );
    const { report } = await reportOn([path]);
    const where = new Map(report.groups.map((group) => [group.name, group.where]));
    expect(where.get('GET /orders/:id')).toEqual([
      'name=GET /orders/:id',
      'kind=server',
      'service=shop',
    ]);
    expect(where.get('GET /users/:id')).toEqual([
      'name=GET',
      'http.route=/users/:id',
      'kind=server',
      'service=shop',
    ]);
    for (const { name, count, where: terms } of report.groups) {
      const some = await reportOn([path], { condition: parseWhere(terms!) });
      const found = some.report.groups.map((each) => [each.name, each.count]);
      // A method alone is a part of what the routes of other instrumentations are called.
      expect(found).toContainEqual([name, count]);
    }
    const byService = await reportOn([path], { by: 'service' });
    expect(byService.report.groups.map((group) => group.where)).toEqual([['service=shop']]);
  });

  it('names a request without a route by its path where one is shown', async () => {
    const { path } = await recording(() => {
      const options = { kind: 'server', parent: null, startTime: NOW } as const;
      startSpan('GET', { 'url.path': '/export/7' }, options).end(NOW + 5_000_000n);
      startSpan('GET /users/:id', { 'url.path': '/users/7' }, options).end(NOW + 4_000_000n);
      startSpan('GET', { 'url.path': `/${'x'.repeat(500)}` }, options).end(NOW + 3_000_000n);
    });
    const { report } = await reportOn([path]);
    expect(report.groups.map(({ name, count }) => [name, count])).toEqual([
      ['GET', 2],
      ['GET /users/:id', 1],
    ]);
    expect(report.slowest.map(({ path }) => path)).toEqual([
      '/export/7',
      null,
      `/${'x'.repeat(199)}…`,
    ]);
    const lines = [...textReport(report, textStyle(100, false))];
    expect(lines.some((line) => line.startsWith('GET (no route) '))).toBe(true);
    const titles = lines.filter((line) => /^\d\. /.test(line));
    expect(titles[0]).toMatch(/^1\. GET \/export\/7 of .*: 5 ms$/);
    expect(titles[1]).toMatch(/^2\. GET \/users\/:id of .*: 4 ms$/);
  });
});
