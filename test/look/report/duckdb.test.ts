import { DuckDBInstance, BIGINT, VARCHAR } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import type { SpanRecord } from '../../../src/spans/span-record.js';
import { recording, reportOn, serviceRequests } from './recorded-service.js';

/** What DuckDB says of the same spans. */
async function duckdbGroups(
  spans: readonly SpanRecord[],
  where: string,
): Promise<Record<string, string | number>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run(
      'CREATE TABLE spans (name VARCHAR, kind VARCHAR, status VARCHAR, duration BIGINT)',
    );
    const appender = await connection.createAppender('spans');
    for (const { name, kind, status, start, end } of spans) {
      for (const text of [name, kind, status.code]) appender.appendValue(text, VARCHAR);
      appender.appendValue(end - start, BIGINT);
      appender.endRow();
    }
    appender.closeSync();
    const quantile = (share: string): string => `quantile_disc(duration, ${share})::DOUBLE`;
    const reader = await connection.runAndReadAll(
      `SELECT name, count(*)::DOUBLE AS count,
        (count(*) FILTER (status = 'error'))::DOUBLE AS errors,
        ${quantile('0.5')} AS p50, ${quantile('0.95')} AS p95, ${quantile('0.99')} AS p99,
        max(duration)::DOUBLE AS max, sum(duration)::DOUBLE AS total
      FROM spans WHERE ${where} GROUP BY name ORDER BY name`,
    );
    return reader.getRowObjectsJS() as Record<string, string | number>[];
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

it('counts and measures as DuckDB does', async () => {
  const { path, spans } = await recording(() => {
    serviceRequests(30_000);
  });
  const kinds: ['route' | 'name' | 'service', string][] = [
    ['name', 'true'],
    ['route', "kind = 'server'"],
  ];
  for (const [by, where] of kinds) {
    const expected = await duckdbGroups(spans, where);
    expect(expected.length).toBeGreaterThanOrEqual(4);
    for (const exact of [true, false]) {
      const { report } = await reportOn([path], { by, exact });
      const groups = [...report.groups].sort((a, b) => (a.name < b.name ? -1 : 1));
      const figures = groups.map(({ name, count, errors, p50, p95, p99, max, total }) => {
        return { name, count, errors, p50, p95, p99, max, total };
      });
      if (exact) {
        expect(figures).toEqual(expected);
        continue;
      }
      const without = ({ name, count, errors, max, total }: Record<string, unknown>): object => {
        return { name, count, errors, max, total };
      };
      expect(figures.map(without)).toEqual(expected.map(without));
      for (const [at, group] of groups.entries()) {
        for (const percentile of ['p50', 'p95', 'p99'] as const) {
          const right = Number(expected[at]![percentile]);
          expect(Math.abs(group[percentile] / right - 1)).toBeLessThan(0.01);
        }
      }
    }
  }
});
