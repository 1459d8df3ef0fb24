import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import { compareRecordings } from '../../../src/look/compare/compare-recordings.js';
import type { Condition } from '../../../src/look/index/look-index.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { hintTexts } from '../../../src/look/report/print/hint-texts.js';
import { makeReport } from '../../../src/look/report/report.js';
import type { Group } from '../../../src/look/report/shape/report-shape.js';
import { groupTable } from '../../../src/look/report/print/tables/group-tables.js';
import { cellText } from '../../../src/look/report/print/tables/report-table.js';
import { startSpan } from '../../../src/spans/start-span.js';
import { recording, reportOn } from './recorded-service.js';

const MS = 1_000_000;
const REQUESTS = 4000;
const ROUTES = ['/orders/:id', '/cart'];
/** Buckets of histograms, the recorder's and the report's. */
const NEARLY = 0.07;

interface Own {
  count: number;
  errors: number;
  durations: number[];
}

/** What the program knows of its requests, and of the operations below them. */
type Log = Map<string, Own>;

function note(log: Log, name: string, duration: number, failed: boolean): void {
  const own = log.get(name) ?? { count: 0, errors: 0, durations: [] };
  log.set(name, own);
  own.count++;
  if (failed) own.errors++;
  own.durations.push(duration);
}

/** Of 100 requests one is slow, of 50 one fails. */
function serve(log: Log, unit: number): void {
  const begin = BigInt(Date.now()) * BigInt(MS);
  for (let n = 0; n < REQUESTS; n++) {
    const name = `GET ${ROUTES[n % 2]!}`;
    const failed = n % 50 === 21;
    const duration = n % 100 === 7 ? 700 * MS : ((n * 37) % 100) * unit + MS;
    const startTime = begin;
    const root = startSpan(name, {}, { parent: null, kind: 'server', startTime });
    const query = startSpan('SELECT', {}, { parent: root, kind: 'client', startTime });
    if (n % 10 === 3) query.fail();
    query.end(begin + BigInt(duration) / 2n);
    if (failed) root.fail();
    root.end(begin + BigInt(duration));
    note(log, name, duration, failed);
    note(log, 'SELECT', Math.floor(duration / 2), n % 10 === 3);
  }
}

let first: { path: string; log: Log };
let second: { path: string; log: Log };
let between = 0n;

beforeAll(async () => {
  const record = async (unit: number) => {
    const log: Log = new Map();
    const keep = { slowerThan: 500, errors: true, ratio: 0.01, limit: false } as const;
    const { path } = await recording(
      () => {
        serve(log, unit);
      },
      { service: 'shop', keep },
    );
    return { path, log };
  };
  first = await record(MS / 10);
  await sleep(200);
  between = BigInt(Date.now()) * BigInt(MS);
  await sleep(200);
  second = await record(MS);
});

function percentile(durations: number[], percent: number): number {
  const sorted = durations.toSorted((a, b) => a - b);
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1]!;
}

function expectLike(group: Group | undefined, own: Own, times = 1): void {
  expect([group?.count, group?.errors]).toEqual([times * own.count, times * own.errors]);
  for (const [percent, found] of [
    [50, group!.p50],
    [95, group!.p95],
    [99, group!.p99],
  ] as const) {
    const truth = percentile(own.durations, percent);
    expect(Math.abs(found / truth - 1)).toBeLessThan(NEARLY);
  }
}

it('the groups of requests are those of the program, kept or not', async () => {
  const { report } = await reportOn([first.path]);
  expect(report.groups).toHaveLength(2);
  for (const route of ROUTES) {
    const group = report.groups.find(({ name }) => name === `GET ${route}`)!;
    expectLike(group, first.log.get(`GET ${route}`)!);
    expect(group.recorded).toBeLessThan(group.count / 10);
    // What the route waited for is asked of those that were kept.
    expect(group.sampled).toBeGreaterThanOrEqual(Math.min(20, group.recorded));
  }
});

it('so are operations below them', async () => {
  const { report } = await reportOn([first.path], { by: 'name' });
  expectLike(
    report.groups.find(({ name }) => name === 'SELECT'),
    first.log.get('SELECT')!,
  );
});

it('requests whose name has no route belong to the route of their attribute', async () => {
  const { path } = await recording(
    () => {
      const begin = BigInt(Date.now()) * BigInt(MS);
      for (let n = 0; n < 400; n++) {
        const attributes = { 'http.route': n % 4 === 0 ? '/pay' : '/cart' };
        const root = startSpan('GET', attributes, {
          parent: null,
          kind: 'server',
          startTime: begin,
        });
        root.end(begin + BigInt(n % 100 < 4 ? 700 * MS : 10 * MS));
      }
    },
    { service: 'shop', keep: { slowerThan: 500, limit: false } },
  );
  const { report } = await reportOn([path]);
  expect(report.groups.map(({ name, count, recorded }) => [name, count, recorded])).toEqual([
    ['GET /cart', 300, 12],
    ['GET /pay', 100, 4],
  ]);
});

it.each<[Condition, string[]]>([
  [{ name: 'GET /c*' }, ['GET /cart']],
  [{ kind: 'server' }, ['GET /cart', 'GET /orders/:id']],
  [{ attributes: [{ name: 'http.route', value: '/cart' }] }, ['GET /cart']],
  [{ service: 'other' }, []],
])('a condition on names selects counts: %o', async (condition, names) => {
  const { report } = await reportOn([first.path], { condition });
  expect(report.groups.map(({ name }) => name).sort()).toEqual(names);
  // The spans themselves have no attribute.
  if (condition.attributes !== undefined) return;
  for (const name of names) {
    expectLike(
      report.groups.find((group) => group.name === name),
      first.log.get(name)!,
    );
  }
});

it('a window selects the counts of its time', async () => {
  const paths = [first.path, second.path];
  const both = await reportOn(paths);
  const cart = (groups: readonly Group[]) => groups.find(({ name }) => name === 'GET /cart');
  expect(cart(both.report.groups)?.count).toBe(2 * first.log.get('GET /cart')!.count);
  const index = await openLookIndex(paths);
  try {
    const at = Number(between - index.epoch);
    const earlier = await makeReport(index, { condition: { to: at } });
    expectLike(cart(earlier.report.groups), first.log.get('GET /cart')!);
    const later = await makeReport(index, { condition: { from: at } });
    const own = second.log.get('GET /cart')!;
    // Spans with given times may overlap the moment.
    expect(cart(later.report.groups)!.count).toBeGreaterThanOrEqual(own.count);
    expect(cart(later.report.groups)!.count).toBeLessThan(own.count * 1.1);
  } finally {
    index.close();
  }
});

it('a comparison is of all requests', async () => {
  const [before, after] = [await openLookIndex([first.path]), await openLookIndex([second.path])];
  try {
    const { groups } = await compareRecordings(
      { index: before, condition: {} },
      { index: after, condition: {} },
    );
    for (const route of ROUTES) {
      const group = groups.find(({ name }) => name === `GET ${route}`)!;
      for (const [side, { log }] of [
        [group.before, first],
        [group.after, second],
      ] as const) {
        const own = log.get(`GET ${route}`)!;
        expect([side.count, side.errors]).toEqual([own.count, own.errors]);
        expect(Math.abs(side.p50 / percentile(own.durations, 50) - 1)).toBeLessThan(NEARLY);
      }
      expect(group.change).toBe('slower');
    }
  } finally {
    before.close();
    after.close();
  }
});

it('figures that come from histograms have a mark, and a kill may have lost counts', async () => {
  const target = join(mkdtempSync(join(tmpdir(), 'tracewright-killed-')), 'killed.heph');
  const program = `
    import { configure, flush, startSpan } from 'tracewright/spans';
    const target = ${JSON.stringify(target)};
    configure({ target, service: 'shop', keep: { slowerThan: 60_000, errors: true, limit: false } });
    const request = () => startSpan('GET /x', {}, { parent: null, kind: 'server' });
    for (let n = 0; n < 100; n++) request().end();
    request().fail(new Error('no')).end();
    await flush();
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
  expect(signal).toBe('SIGKILL');
  const killed = (await makeReport(await openLookIndex([target]))).report;
  expect([killed.lostCounts, killed.notKept]).toEqual([['shop'], 0]);
  expect(hintTexts(killed).flat().join(' ')).toContain('shop was killed');
  const ended = (await makeReport(await openLookIndex([first.path]))).report;
  expect(ended.lostCounts).toEqual([]);
  expect(hintTexts(ended).flat().join(' ')).toContain('Latencies with ~ come from histograms');
  const { columns, rows } = groupTable(ended);
  const p95 = columns.find(({ title }) => title === 'p95')!;
  expect(cellText(p95, rows[0]!)).toMatch(/^~/);
  expect(
    cellText(
      columns.find(({ title }) => title === 'count')!,
      rows[0]!,
    ),
  ).toMatch(/^\d/);
});
