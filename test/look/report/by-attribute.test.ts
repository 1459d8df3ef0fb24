import { expect, it } from 'vitest';
import { compareRecordings } from '../../../src/look/compare/compare-recordings.js';
import { parseWhere } from '../../../src/look/condition/where.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { textReport } from '../../../src/look/report/print/text/text-report.js';
import { textStyle } from '../../../src/look/report/print/text/text-style.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { tracewright } from '../../cli/run-command.js';
import { recording, reportOn, seededNumbers } from './recorded-service.js';

const ORDERS = 'SELECT * FROM orders WHERE id = $1';
const USERS = 'SELECT name FROM users WHERE id = $1';
const NAME = 'SELECT';

/** Statements under one name, and the log of what they took: name of the statement to ns. */
async function statements(factor: number): Promise<{ path: string; log: Map<string, number[]> }> {
  const numbers = seededNumbers(11 * Math.round(100 * factor));
  const log = new Map<string, number[]>();
  const begin = BigInt(Date.now()) * 1_000_000n;
  const { path } = await recording(
    () => {
      for (let i = 0; i < 1000; i++) {
        const isOrders = i % 10 === 0;
        const text = isOrders ? ORDERS : USERS;
        const took = Math.round(2e6 * (isOrders ? factor : 1) * (0.8 + 0.4 * numbers.next().value));
        log.set(text, [...(log.get(text) ?? []), took]);
        const startTime = begin + BigInt(i) * 10_000_000n;
        // The older convention now and then.
        const attributes = {
          'db.system.name': 'postgresql',
          [i % 3 === 0 ? 'db.statement' : 'db.query.text']: text,
          'db.namespace': i % 2 === 0 ? 'shop' : 'archive',
        };
        const options = { kind: 'client', parent: null, startTime } as const;
        startSpan(NAME, attributes, options).end(startTime + BigInt(took));
        startSpan('render', {}, { parent: null, startTime }).end(startTime + 1000n);
      }
    },
    { service: 'shop' },
  );
  return { path, log };
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);

it('a report by an attribute has a row for each of its values, with its total', async () => {
  const { path, log } = await statements(1);
  const attributes = ['db.query.text'];
  const { report } = await reportOn([path], { attributes, exact: true });
  const rows = report.groups.map(({ name, count, total, max }) => [name, count, total, max]);
  expect(rows).toEqual(
    [USERS, ORDERS].map((text) => {
      const took = log.get(text)!;
      return [text, took.length, sum(took), Math.max(...took)];
    }),
  );
  for (const { where, count } of report.groups) {
    const { report: some } = await reportOn([path], { condition: parseWhere(where!), attributes });
    expect(some.groups.map((group) => group.count)).toEqual([count]);
  }
  const lines = [...textReport(report, textStyle(120, false))];
  expect(lines).toContain('By db.query.text');
  expect(lines.find((line) => line.startsWith('db.query.text'))).toMatch(/total +share$/);

  // On a narrow terminal, too: a statement that is cut off names nothing.
  const narrow = [...textReport(report, textStyle(80, false))];
  expect(narrow.find((line) => line.startsWith('db.query.text'))).toMatch(/ total/);
  for (const text of [USERS, ORDERS]) {
    expect(narrow.some((line) => line.startsWith(text))).toBe(true);
  }

  // Every other span is of the kind that has it.
  const { report: none } = await reportOn([path], { attributes: ['db.query.txt'] });
  expect(none.unknownAttributes).toEqual([{ name: 'db.query.txt', near: 'db.query.text' }]);
  const typo = { condition: parseWhere(['db.sytem.name=postgresql']) };
  expect((await reportOn([path], typo)).report.unknownAttributes).toEqual([
    { name: 'db.sytem.name', near: 'db.system.name' },
  ]);
  const short = { condition: parseWhere(['sql=x', 'namespace=shop', 'table=users']) };
  expect((await reportOn([path], short)).report.unknownAttributes).toEqual([
    { name: 'sql', near: 'db.query.text' },
    { name: 'namespace', near: 'db.namespace' },
  ]);

  const unwritten = { attributes, condition: { name: 'render' } };
  const text = [...textReport((await reportOn([path], unwritten)).report, textStyle(160, false))];
  expect(text).toContain(
    'No span has db.query.text. ' +
      'The text of queries is recorded with TRACEWRIGHT_QUERY_TEXT=1.',
  );

  const both = ['db.namespace', 'db.query.text'];
  const { report: two } = await reportOn([path], { attributes: both });
  const counts = two.groups.map(({ name, count }) => [name, count]);
  // Every tenth has an even number.
  expect(new Map(counts as [string, number][])).toEqual(
    new Map([
      [`archive · ${USERS}`, 500],
      [`shop · ${USERS}`, 400],
      [`shop · ${ORDERS}`, 100],
    ]),
  );
});

it('a comparison finds the one statement of two under a name that became slower', async () => {
  const [before, after] = [await statements(1), await statements(1.3)];
  const first = await openLookIndex([before.path]);
  const second = await openLookIndex([after.path]);
  const sides = [
    { index: first, condition: {} },
    { index: second, condition: {} },
  ] as const;
  const { groups } = await compareRecordings(...sides);
  const slower = groups.filter(({ change }) => change === 'slower');
  expect(slower.map(({ name, statement }) => [name, statement])).toEqual([[NAME, ORDERS]]);
  const mean = (values: readonly number[]): number => Math.exp(sum(values.map(Math.log)) / 100);
  const truth = mean(after.log.get(ORDERS)!) / mean(before.log.get(ORDERS)!);
  expect(slower[0]!.ratio!.value).toBeCloseTo(truth, 6);
  const byText = await compareRecordings(...sides, ['db.query.text']);
  expect(byText.groups.map(({ name, change }) => [name, change])).toEqual([
    [ORDERS, 'slower'],
    [USERS, 'same'],
  ]);
  first.close();
  second.close();
  const run = tracewright('report', after.path, '--against', before.path, '--by', 'db.query.text');
  expect(run.stdout).toMatch(/1 of 2 kinds of spans became slower, SELECT \* FROM orders/);
  const none = tracewright('report', after.path, '--where', 'name=a b', '--since', '+1s');
  expect(none.stdout).toContain("There is no span that meets --since +1s and --where 'name=a b'.");
  const wrong = tracewright('report', after.path, '--by', 'rout');
  expect(wrong.stderr).toContain('got "rout"; did you mean');
});

it('clients and servers with one value say which they are, however narrow the terminal', async () => {
  const { path } = await recording(
    () => {
      for (const kind of ['client', 'server'] as const) {
        startSpan('GET /a', { 'http.response.status_code': 200 }, { kind, parent: null }).end();
      }
    },
    { service: 'shop' },
  );
  const { report } = await reportOn([path], { attributes: ['http.response.status_code'] });
  const lines = [...textReport(report, textStyle(80, false))].filter((line) => /^200 /.test(line));
  expect(lines.map((line) => line.split(/ +/)[1]).sort()).toEqual(['client', 'server']);
});
