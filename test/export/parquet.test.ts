import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, Json } from '@duckdb/node-api';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ExportOptions } from '../../src/export/selection.js';
import { ParquetExport } from '../../src/export/parquet/parquet-export.js';
import { startSpan } from '../../src/spans/start-span.js';
import { findTraces } from '../../src/traces/find-traces.js';
import { encodeEpoch } from '../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../heph/temporary-file.js';
import { recorded } from '../spans/span-trace.js';
import {
  MANY_ATTRIBUTES,
  encodeResource,
  encodeSpan,
  manyAttributes,
  withAttributes,
} from './span-file.js';

const directory = temporaryDirectory();
const EPOCH = 1_700_000_000_000_000_000n;
let database: DuckDBConnection;
let files = 0;

beforeAll(async () => {
  database = await (await DuckDBInstance.create(':memory:')).connect();
});

/** Exports a trace, and answers a question about its table `spans`. */
async function rows(
  path: string,
  query: string,
  options?: ExportOptions,
): Promise<Record<string, Json>[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of new ParquetExport(findTraces([path]), options).chunks()) {
    chunks.push(chunk);
  }
  const out = join(directory, `${++files}.parquet`);
  writeFileSync(out, Buffer.concat(chunks));
  const result = await database.runAndReadAll(query.replace('spans', `'${out}'`));
  return result.getRowObjectsJson();
}

describe('spans as Parquet', { timeout: 60_000 }, () => {
  it('say which texts in JSON are numbers or bytes', async () => {
    let path = '';
    await recorded(directory, (target) => {
      path = target;
      const attributes = { text: 'NaN', nan: NaN, list: [1, Infinity], bytes: Uint8Array.of(1, 2) };
      const span = startSpan('special', attributes);
      span.event('row', { nan: NaN });
      span.end();
      startSpan('usual', { minus: -0 }).end();
    });
    const [special, usual] = await rows(path, 'SELECT * FROM spans');
    expect(JSON.parse(special!['attributes'] as string)).toEqual({
      text: 'NaN',
      nan: 'NaN',
      list: [1, 'Infinity'],
      bytes: 'AQI=',
    });
    expect(JSON.parse(special!['attribute_types'] as string)).toEqual({
      nan: 'double',
      list: [null, 'double'],
      bytes: 'bytes',
    });
    expect(JSON.parse(special!['events'] as string)).toMatchObject([
      { attributes: { nan: 'NaN' }, attribute_types: { nan: 'double' } },
    ]);
    expect(usual!['attribute_types']).toBeNull();
    expect(JSON.parse(usual!['attributes'] as string)).toEqual({ minus: -0 });
  });

  it('are rows with typed columns', async () => {
    let path = '';
    const spans = await recorded(
      directory,
      (target) => {
        path = target;
        const attributes = {
          'http.route': '/users/:id',
          'http.response.status_code': 404,
          text: 'ö\u0000"\n',
          huge: 2n ** 63n,
          infinite: Infinity,
          list: ['a', 'b'],
        };
        const request = startSpan('GET /users/:id', attributes, { kind: 'server' });
        const query = startSpan('query', {}, { parent: request, links: [{ to: request }] });
        query.event('row', { id: 7 });
        query.fail(new Error('lost'));
        query.end();
        request.end();
      },
      { service: 'shop' },
    );
    const [query, request] = await rows(path, 'SELECT * FROM spans');
    const [recordedQuery, recordedRequest] = spans;
    expect(request).toMatchObject({
      trace_id: recordedRequest!.traceId,
      span_id: recordedRequest!.spanId,
      parent_span_id: null,
      name: 'GET /users/:id',
      kind: 'server',
      service_name: 'shop',
      status_code: 'unset',
      status_message: null,
      unfinished: false,
      http_route: '/users/:id',
      http_response_status_code: 404,
      duration_ns: (recordedRequest!.end - recordedRequest!.start).toString(),
      events: null,
      process_pid: process.pid,
    });
    const json = request!['attributes'] as string;
    expect(json).toContain('"huge":9223372036854775808,"infinite":"Infinity"');
    expect(JSON.parse(json)).toMatchObject({ text: 'ö\u0000"\n', list: ['a', 'b'] });
    expect(query).toMatchObject({
      parent_span_id: recordedRequest!.spanId,
      status_code: 'error',
      status_message: 'lost',
      http_response_status_code: null,
    });
    expect(JSON.parse(query!['events'] as string)).toMatchObject([
      { name: 'row', attributes: { id: 7 } },
      { name: 'exception' },
    ]);
    expect(JSON.parse(query!['links'] as string)).toMatchObject([
      { trace_id: recordedQuery!.traceId, span_id: recordedRequest!.spanId },
    ]);
    const types = await rows(path, 'SELECT typeof(COLUMNS(*)) FROM spans LIMIT 1');
    expect(types[0]).toMatchObject({
      start_time: 'TIMESTAMP WITH TIME ZONE',
      duration_ns: 'BIGINT',
      unfinished: 'BOOLEAN',
      attributes: 'JSON',
      thread: 'BIGINT',
    });
  });

  it('have several row groups, whose dictionaries and gaps differ', async () => {
    const count = 150_000;
    const spans = Array.from({ length: count }, (_, i) =>
      encodeSpan({
        id: BigInt(i + 1),
        parent: i % 3 === 0 ? 0n : 1n,
        name: `name ${i % 7 === 0 ? i : 0}`,
        start: BigInt(i),
        end: BigInt(2 * i),
        flags: i % 5 === 0 ? 1n | (1n << 13n) : 1n,
      }),
    );
    const path = writeTrace(directory, 'groups.heph', encodeEpoch(EPOCH), Buffer.concat(spans));
    const [all] = await rows(
      path,
      `SELECT count(*) AS n, count(parent_span_id) AS children, count(DISTINCT name) AS names,
        count(*) FILTER (unfinished) AS unfinished, sum(duration_ns) AS total,
        quantile_disc(duration_ns, 0.99) AS p99, count(resource) AS resources FROM spans`,
    );
    expect(all).toEqual({
      n: String(count),
      children: String((count / 3) * 2),
      names: String(Math.ceil(count / 7)),
      unfinished: String(count / 5),
      total: String((BigInt(count) * BigInt(count - 1)) / 2n),
      p99: String(0.99 * count - 1),
      resources: '0',
    });
  });

  it('are selected, and none is a table without rows', async () => {
    const path = writeTrace(
      directory,
      'selected.heph',
      encodeEpoch(EPOCH),
      encodeResource({ 'service.name': 'a' }),
      encodeSpan({ id: 1n, start: 1n, end: 2n, flags: 1n << 16n }),
      encodeSpan({ id: 2n, start: 3000n, end: 4000n }),
    );
    const select = (condition: object): ExportOptions => ({ selection: { range: {}, condition } });
    const names = 'SELECT name FROM spans';
    expect(await rows(path, names, select({ service: 'a' }))).toEqual([{ name: 'span 1' }]);
    expect(await rows(path, names, select({ name: 'nothing' }))).toEqual([]);
    const since = { from: 'end', nanoseconds: 1000 } as const;
    const late = { selection: { range: { since }, condition: {} } };
    expect(await rows(path, names, late)).toEqual([{ name: 'span 2' }]);
  });

  it('survive very many attributes, 290 years, and times that go back', async () => {
    const wide = encodeSpan({ id: 1n, start: 1n, end: 2n, name: '\u001b[31m\u0000' });
    const path = writeTrace(
      directory,
      'hostile.heph',
      encodeEpoch(EPOCH),
      withAttributes(wide, manyAttributes(MANY_ATTRIBUTES)),
      encodeSpan({ id: 2n, start: 0n, end: 2n ** 64n - 1n }),
      encodeSpan({ id: 3n, start: 50n, end: 10n }),
    );
    const found = await rows(path, 'SELECT name, duration_ns, length(attributes) l FROM spans');
    expect(found.map(({ name, duration_ns }) => [name, duration_ns])).toEqual([
      ['\u001b[31m\u0000', '1'],
      ['span 2', String(2n ** 63n - 1n)],
      ['span 3', '-40'],
    ]);
    expect(Number(found[0]!['l'])).toBeGreaterThan(20 * MANY_ATTRIBUTES);
  });
});
