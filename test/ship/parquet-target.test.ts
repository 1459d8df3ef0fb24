import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, Json } from '@duckdb/node-api';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parquetSettings } from '../../src/ship/parquet-settings.js';
import { ParquetTarget } from '../../src/ship/parquet-target.js';
import type { UnnamedFile } from '../../src/ship/target.js';
import { configure, flush, shutdown } from '../../src/spans/recording.js';
import { startSpan } from '../../src/spans/start-span.js';
import type { SpanOptions } from '../../src/spans/recording.js';
import { main, tracewright } from '../cli/run-command.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { allSpans } from '../spans/span-trace.js';

const directory = temporaryDirectory();
let database: DuckDBConnection;
let runs = 0;

beforeAll(async () => {
  database = await (await DuckDBInstance.create(':memory:')).connect();
});

/** Directories of a test, and the command that ships from one to the other. */
function place(): { traces: string; out: string; checkpoint: string; args: string[] } {
  const own = join(directory, String(++runs));
  const [traces, out, checkpoint] = [join(own, 'traces'), join(own, 'out'), join(own, 'at.json')];
  mkdirSync(traces, { recursive: true });
  const args = ['ship', traces, '--to', pathToFileURL(out).href, '--checkpoint', checkpoint];
  return { traces, out, checkpoint, args };
}

/** Starts and ends some spans, and leaves their file open for more. */
async function record(path: string, count: number, options: SpanOptions = {}): Promise<void> {
  configure({ target: path, ...options });
  for (let i = 0; i < count; i++) startSpan('work', { 'http.route': `/${i % 3}`, i }).end();
  await flush();
}

const filesOf = (out: string): string[] =>
  readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.parquet'))
    .sort();

async function rows(out: string, query: string): Promise<Record<string, Json>[]> {
  const table = `read_parquet('${out}/**/*.parquet', hive_partitioning = true)`;
  return (await database.runAndReadAll(query.replace('spans', table))).getRowObjectsJson();
}

describe('a directory of Parquet', { timeout: 60_000 }, () => {
  it('has a file an hour and a service, with the rows of `convert`', async () => {
    const { traces, out, args } = place();
    await record(join(traces, 'shop.heph'), 5000, { service: 'shop' });
    await shutdown();
    await record(join(traces, 'mail.heph'), 10, { service: 'm/ail' });
    await shutdown();
    const run = tracewright(...args, '--once');
    expect(run.status, run.stderr).toBe(0);
    const services = await rows(
      out,
      'SELECT service_name, count(*)::INT AS n FROM spans GROUP BY ALL ORDER BY n',
    );
    expect(services).toEqual([
      { service_name: 'm/ail', n: 10 },
      { service_name: 'shop', n: 5000 },
    ]);
    for (const name of filesOf(out)) {
      expect(name).toMatch(
        /^date=\d{4}-\d\d-\d\d\/hour=\d\d\/service=(shop|m%2Fail)\/\d{4}(-\d\d){5}-[0-9a-f]{24}\.parquet$/,
      );
    }
    const converted = join(directory, 'shop.parquet');
    expect(
      tracewright('convert', '--to', 'parquet', join(traces, 'shop.heph'), converted).status,
    ).toBe(0);
    const difference = await rows(
      out,
      `SELECT * EXCLUDE (date, hour, service) FROM spans WHERE service_name = 'shop'
       EXCEPT ALL SELECT * FROM '${converted}'`,
    );
    expect(difference).toEqual([]);
  });

  it('has each span once after a kill, and takes no second shipper', async () => {
    const { traces, out, args } = place();
    await record(join(traces, 'a.heph'), 3000);
    const ship = spawn(process.execPath, [main, ...args, '--roll', '1h'], { stdio: 'ignore' });
    const unnamed = join(out, '.tracewright-ship');
    try {
      await expect
        .poll(() => existsSync(unnamed) && readdirSync(unnamed).length, { timeout: 20_000 })
        .toBe(2);
      const second = tracewright(...args.with(-1, join(directory, 'other.json')), '--once');
      expect([second.status, second.stderr]).toEqual([
        2,
        expect.stringContaining(`another process ships to ${out}`),
      ]);
    } finally {
      ship.kill('SIGKILL');
    }
    await once(ship, 'exit');
    expect(filesOf(out)).toEqual([]);
    await record(join(traces, 'a.heph'), 0);
    await shutdown();
    const run = tracewright(...args, '--once');
    expect(run.status, run.stderr).toBe(0);
    const [counts] = await rows(
      out,
      'SELECT count(*)::INT n, count(DISTINCT span_id)::INT d FROM spans',
    );
    expect(counts).toEqual({ n: 3000, d: 3000 });
    expect(readdirSync(unnamed)).toEqual(['lock']);
  });

  it('names a file that the checkpoint says is complete', async () => {
    const { traces, out, checkpoint, args } = place();
    await record(join(traces, 'a.heph'), 100);
    await shutdown();
    expect(tracewright(...args, '--once').status).toBe(0);
    const [name] = filesOf(out);
    const { unnamed } = JSON.parse(readFileSync(checkpoint, 'utf8')) as {
      unnamed: Record<string, UnnamedFile[]>;
    };
    const [[file]] = Object.values(unnamed) as [[UnnamedFile]];
    // As if it had been killed before.
    renameSync(join(out, name!), join(out, '.tracewright-ship', file.from));
    expect(tracewright(...args, '--once').status).toBe(0);
    expect(filesOf(out)).toEqual([name]);
  });

  it('completes files after a time, while spans come', async () => {
    const { traces, out, args } = place();
    await record(join(traces, 'a.heph'), 100);
    const ship = spawn(process.execPath, [main, ...args, '--roll', '1s'], { stdio: 'ignore' });
    try {
      await expect.poll(() => filesOf(out).length, { timeout: 20_000 }).toBe(1);
      for (let i = 0; i < 50; i++) startSpan('more').end();
      await flush();
      await expect.poll(() => filesOf(out).length, { timeout: 20_000 }).toBe(2);
      for (let i = 0; i < 50; i++) startSpan('last').end();
      await flush();
    } finally {
      await shutdown();
      ship.kill('SIGTERM');
    }
    await once(ship, 'exit');
    const run = tracewright(...args, '--once');
    expect(run.status, run.stderr).toBe(0);
    const [counts] = await rows(
      out,
      'SELECT count(*)::INT n, count(DISTINCT span_id)::INT d FROM spans',
    );
    expect(counts).toEqual({ n: 200, d: 200 });
  });

  it('keeps what it cannot store, and tries again', async () => {
    const { traces, out } = place();
    await record(join(traces, 'a.heph'), 10);
    await shutdown();
    const spans = await allSpans(traces);
    const far = { ...spans[0]!, start: 1n << 62n, end: 1n << 62n };
    const batch = {
      spans: [...spans, far],
      producers: Array<string>(11).fill('a'),
      counters: Array.from({ length: 11 }, (_, i) => i),
    };
    const target = new ParquetTarget(
      parquetSettings(pathToFileURL(out).href, '1h'),
      () => undefined,
    );
    let refuses = true;
    target.store.begin([], () => {
      if (refuses) throw new Error('the checkpoint cannot be written');
    });
    expect(await target.send(batch)).toEqual({ kind: 'accepted' });
    await expect(target.store.flush()).rejects.toThrow('cannot be written');
    expect(await target.send(batch)).toMatchObject({ kind: 'retry' });
    refuses = false;
    const other = { ...batch, producers: batch.producers.map(() => 'b') };
    expect(await target.send(other)).toEqual({ kind: 'accepted' });
    await target.store.flush();
    // The same spans again have the same name.
    expect(await target.send(batch)).toEqual({ kind: 'accepted' });
    await target.store.flush();
    await target.close();
    const [counts] = await rows(out, 'SELECT count(*)::INT n FROM spans');
    expect(counts).toEqual({ n: 22 });
  });

  it('says which options are wrong', () => {
    expect(parquetSettings('file:///x', '64MB,30s')).toEqual({
      directory: '/x',
      mostBytes: 64e6,
      mostMs: 30_000,
    });
    expect(() => parquetSettings('file://host/x', undefined)).toThrow('--to must be');
    expect(() => parquetSettings('file:///x', '0MB')).toThrow('such as 128MB,5m');
  });
});
