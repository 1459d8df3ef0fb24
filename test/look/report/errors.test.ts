import { describe, expect, it } from 'vitest';
import { compareRecordings, comparisonText } from '../../../src/look/compare/compare-recordings.js';
import { parseWhere } from '../../../src/look/condition/where.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import type { ErrorType, FailedSpans } from '../../../src/look/report/shape/report-shape.js';
import { textReport } from '../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import { isoTime, timeText } from '../../../src/look/report/measures/units.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { recording, reportOn } from './recorded-service.js';

const SECOND = 1_000_000_000n;
/** A whole second, so near that times are exact. */
const BEGIN = BigInt(Math.floor(Date.now() / 1000)) * SECOND;

function noStock(item: number): Error {
  return new RangeError(`no stock of ${item} in 'shelf ${item}'`);
}

function noCredit(customer: number): Error {
  return new RangeError(`no credit of customer ${customer}`);
}

/** A request that fails, which ends so many seconds after the beginning. */
function failing(name: string, second: number, error: unknown): void {
  const startTime = BEGIN + BigInt(second) * SECOND;
  startSpan(name, {}, { kind: 'server', parent: null, startTime })
    .fail(error)
    .end(startTime + 1n);
}

const figures = ({ types }: FailedSpans): unknown[] =>
  types.map(({ type, message, name, names, service, count }) => [
    ...[type, message, name, names, service, count],
  ]);
/** When what began so many seconds after the beginning has ended. */
const timeOf = (second: number): string => isoTime(BEGIN, second * Number(SECOND) + 1);

describe('errors', () => {
  it('are counted by type, in text, JSON and page', async () => {
    const { path } = await recording(
      () => {
        for (let i = 0; i < 3; i++) {
          const request = startSpan('GET /fail', {}, { kind: 'server', parent: null });
          const query = startSpan('SELECT', {}, { kind: 'client', parent: request });
          query.fail(new TypeError('no')).end();
          request.set('error.type', '500').fail().end();
        }
        startSpan('GET /good', {}, { kind: 'server', parent: null }).end();
      },
      { service: 'shop' },
    );
    const illustrated = await reportOn([path]);
    const { errors } = illustrated.report;
    expect(errors).toMatchObject({ count: 6, read: 6, newSince: null });
    expect(figures(errors)).toEqual([['TypeError', 'no', 'SELECT', 1, 'shop', 3]]);
    const [{ requests }] = errors.types as [ErrorType];
    expect(requests).toEqual([{ name: 'GET /fail', service: 'shop', count: 3 }]);
    const some = await reportOn([path], { condition: parseWhere(errors.types[0]!.where) });
    expect(some.report.errors.count).toBe(3);
    // Those of the requests that are asked for are below them.
    for (const condition of [{ name: 'GET /fail' }, { name: 'GET /fail', service: 'shop' }]) {
      const { report } = await reportOn([path], { condition });
      expect(figures(report.errors)).toEqual(figures(errors));
      const where = [...report.errors.types[0]!.where, 'name=GET /fail'];
      const those = await reportOn([path], { condition: parseWhere(where) });
      expect(figures(those.report.errors)).toEqual(figures(errors));
    }
    const lines = [...textReport(illustrated.report, textStyle(80, false))];
    const title = lines.indexOf('Errors by type: 3, in 6 failed spans');
    expect(lines[title + 1]).toMatch(/^type +message +at +span +service +count$/);
    expect(lines[title + 2]).toMatch(/^TypeError +no +\S.* +SELECT +shop +3$/);
  });

  it('of a request that asked again have its name, and it has not failed', async () => {
    const { path } = await recording(
      () => {
        const job = startSpan('process mails', {}, { kind: 'consumer', parent: null });
        for (let at = 0; at < 2; at++) startSpan('send mail', {}, { parent: job }).fail().end();
        startSpan('send mail', {}, { parent: job }).end();
        job.end();
      },
      { service: 'shop' },
    );
    const { report } = await reportOn([path]);
    expect(report.errors.types).toMatchObject([
      { count: 2, requests: [], caught: [{ name: 'process mails', service: 'shop', count: 1 }] },
    ]);
    const screen = [...textReport(report, textStyle(80, false), [], 'screen')];
    expect(screen).toContainEqual(expect.stringMatching(/^ +2 .*process mails 1 ok/));
  });

  it('are one if what failed is the last of a request before it throws soon', async () => {
    const MS = 1_000_000n;
    let begin = BEGIN;
    /** A request whose call fails, and which throws later. */
    const request = (ms: bigint, between: boolean): void => {
      begin += SECOND;
      const root = startSpan('GET /order', {}, { kind: 'server', parent: null, startTime: begin });
      const call = { kind: 'client', parent: root } as const;
      startSpan('GET stock', {}, { ...call, startTime: begin + MS })
        .set('error.type', '500')
        .fail()
        .end(begin + 2n * MS);
      if (between) {
        startSpan('GET cache', {}, { ...call, startTime: begin + 3n * MS }).end(begin + 4n * MS);
      }
      root.fail(new Error('no order')).end(begin + (2n + ms) * MS);
    };
    const { path } = await recording(
      () => {
        request(60n, false);
        request(60n, true);
        request(4n, true);
        request(200n, false);
      },
      { service: 'shop' },
    );
    const { report } = await reportOn([path]);
    const counts = report.errors.types.map(({ name, message, count }) => [name, message, count]);
    expect(counts.sort()).toEqual([
      ['GET /order', 'no order', 2],
      ['GET stock', null, 2],
      ['GET stock', 'no order', 2],
    ]);
  });

  it('are grouped by type, shape of the message and frame, with first, last and an example', async () => {
    const { path, spans } = await recording(
      () => {
        for (let i = 0; i < 40; i++) {
          failing(
            i % 4 === 0 ? 'POST /gift' : 'POST /buy',
            i,
            i % 2 === 0 ? noStock(i) : noCredit(i),
          );
        }
      },
      { service: 'shop' },
    );
    const { report } = await reportOn([path]);
    for (const { where, count } of report.errors.types) {
      const { report: own } = await reportOn([path], { condition: parseWhere(where) });
      expect(own.errors.count).toBe(count);
    }
    expect(figures(report.errors)).toEqual([
      ['RangeError', 'no stock of ? in ?', 'POST /gift', 2, 'shop', 20],
      ['RangeError', 'no credit of customer ?', 'POST /buy', 1, 'shop', 20],
    ]);
    const [stock, credit] = report.errors.types as [ErrorType, ErrorType];
    expect(stock.frame).toMatch(/^noStock \(.*errors\.test\.ts:\d+:\d+\)$/);
    expect(credit.frame).toMatch(/^noCredit \(/);
    expect([stock.first, stock.last]).toEqual([timeOf(0), timeOf(38)]);
    expect([credit.first, credit.last]).toEqual([timeOf(1), timeOf(39)]);
    const last = spans.find(({ start }) => start === BEGIN + 38n * SECOND);
    expect(stock.example).toBe(last!.traceId);
    expect([stock.isNew, credit.isNew]).toEqual([null, null]);
    const text = [...textReport(report, textStyle(300, false))].join('\n');
    expect(text).toMatch(
      /RangeError: no credit of customer \? at noCredit \(.*\), span POST \/buy in shop: first .* UTC, last .* UTC, trace [\da-f]{32}/,
    );
  });

  it('are new if none such ended before the window', async () => {
    const { path } = await recording(
      () => {
        for (let i = 0; i < 20; i++) failing('POST /buy', i, noStock(i));
        for (let i = 12; i < 20; i += 4) failing('POST /buy', i, noCredit(i));
      },
      { service: 'shop' },
    );
    const { report } = await reportOn([path], { condition: { from: 10e9 } });
    const { newSince, types, count } = report.errors;
    expect({ newSince, count }).toEqual({ newSince: isoTime(BEGIN, 10e9), count: 12 });
    expect(types.map(({ message, isNew, first }) => [message, isNew, first])).toEqual([
      ['no stock of ? in ?', false, timeOf(10)],
      ['no credit of customer ?', true, timeOf(12)],
    ]);
    const lines = [...textReport(report, textStyle(160, false))];
    const title = lines.indexOf(
      `Errors by type: 12, in 12 failed spans; 1 type new since ${timeText(isoTime(BEGIN, 10e9))}`,
    );
    expect(lines[title + 2]).toMatch(/^RangeError +no credit of .* 2 +new /);
  });

  it('of two recordings are new, gone or on both sides, wherever their lines are', async () => {
    const moved = (item: number): Error => {
      const error = noStock(item);
      error.stack = error.stack!.replace(/errors\.test\.ts:\d+:\d+/, 'errors.test.ts:7:3');
      return error;
    };
    const { path: before } = await recording(
      () => {
        for (let i = 0; i < 6; i++) failing('POST /buy', i, noStock(i));
        for (let i = 0; i < 4; i++) failing('POST /buy', i, new TypeError('it broke'));
      },
      { service: 'shop' },
    );
    const { path: after } = await recording(
      () => {
        for (let i = 0; i < 9; i++) failing('POST /buy', i, moved(i));
        for (let i = 0; i < 2; i++) failing('POST /buy', i, noCredit(i));
      },
      { service: 'shop' },
    );
    const first = await openLookIndex([before]);
    const second = await openLookIndex([after]);
    const comparison = await compareRecordings(
      { index: first, condition: {} },
      { index: second, condition: {} },
    );
    first.close();
    second.close();
    const { errors } = comparison;
    expect(errors.before).toEqual({ count: 10, read: 10 });
    expect(errors.after).toEqual({ count: 11, read: 11 });
    expect(
      errors.types.map(({ message, change, before: b, after: a }) => [message, change, b, a]),
    ).toEqual([
      ['no credit of customer ?', 'new', 0, 2],
      ['it broke', 'gone', 4, 0],
      ['no stock of ? in ?', null, 6, 9],
    ]);
    const lines = [...comparisonText(comparison, textStyle(140, false))];
    const title = lines.indexOf('Errors by type: 1 new, 1 gone, 1 on both sides');
    expect(lines[title + 2]).toMatch(/^RangeError +no credit of .* new +0 → 2/);
    expect(lines[title + 4]).toMatch(/ 6 → 9/);
  });

  it('are estimated from some of many, whatever pattern they have', async () => {
    const { path } = await recording(() => {
      // They alternate, and one in four is read.
      for (let i = 0; i < 20_000; i++) failing('GET /x', 0, i % 2 === 0 ? noStock(i) : noCredit(i));
    });
    const { count, read, types } = (await reportOn([path])).report.errors;
    expect([count, read]).toEqual([20_000, 5000]);
    expect(types).toHaveLength(2);
    const [first, second] = types as [ErrorType, ErrorType];
    expect(first.count / read).toBeCloseTo(0.5, 1);
    expect(first.count + second.count).toBe(read);
  });

  it('are those of what failed within, whether or not that was read', async () => {
    const { path } = await recording(
      () => {
        for (let i = 0; i < 3000; i++) {
          const request = startSpan('GET /x', {}, { kind: 'server', parent: null });
          startSpan('handle', {}, { parent: request }).fail(noStock(i)).end();
          request.set('error.type', '500').fail().end();
        }
      },
      { service: 'shop' },
    );
    // Five in six are read.
    const { report } = await reportOn([path]);
    expect(report.errors).toMatchObject({ count: 6000, read: 5000 });
    expect(report.errors.types).toHaveLength(1);
    const [all] = report.errors.types as [ErrorType];
    expect((all.count * 6000) / 5000 / 3000).toBeCloseTo(1, 1);
  });
});
