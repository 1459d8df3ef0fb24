import { DuckDBInstance } from '@duckdb/node-api';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DuckDBConnection } from '@duckdb/node-api';
import { configure, shutdown } from '../../src/spans/recording.js';
import { startSpan } from '../../src/spans/start-span.js';
import type { Span } from '../../src/spans/span.js';
import { withSpan } from '../../src/spans/active-span.js';
import { tracewright } from '../cli/run-command.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const page = readFileSync(
  fileURLToPath(new URL('../../docs/shipping/parquet.md', import.meta.url)),
  'utf8',
);
const questions = [...page.matchAll(/^-- (\d+)\. (.*)\n([^]*?);\n/gm)].map(
  ([, number, title, query]) => ({ number: Number(number), title: title!, query: query! }),
);
const directory = temporaryDirectory();
let database: DuckDBConnection;

/** The rows that answer a question. */
async function answer(number: number): Promise<Record<string, unknown>[]> {
  const { query } = questions.find((question) => question.number === number)!;
  return (await database.runAndReadAll(query)).getRowObjectsJson();
}

beforeAll(async () => {
  const [traces, out] = [join(directory, 'traces'), join(directory, 'spans')];
  mkdirSync(traces);
  configure({ target: join(traces, 'shop.heph'), service: 'shop' });
  for (let i = 0; i < 20; i++) {
    const attributes = { 'http.route': i < 5 ? '/pay' : '/' };
    const serve = (request: Span): void => {
      startSpan('SELECT', { 'db.query.text': 'SELECT 1' }, { kind: 'client' }).end();
      if (i === 0) request.fail(new Error('refused'));
    };
    withSpan('GET', attributes, serve, { kind: 'server' });
  }
  await shutdown();
  const at = join(directory, 'at.json');
  const to = pathToFileURL(out).href;
  expect(tracewright('ship', traces, '--to', to, '--checkpoint', at, '--once').status).toBe(0);
  database = await (await DuckDBInstance.create(':memory:')).connect();
  const [, view] = /(CREATE VIEW [^;]*);/.exec(page)!;
  await database.run(view!.replace('/var/lib/spans', out));
});

describe('the questions of docs/shipping/parquet.md', () => {
  it('are ten', () => {
    expect(questions.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it.each(questions)('answers $number. $title', async ({ number }) => {
    const rows = await answer(number);
    // Nothing was killed here.
    expect(rows.length > 0).toBe(number !== 7);
  });

  it('have right answers', async () => {
    const routes = await answer(1);
    expect(routes.map(({ http_route, requests }) => [http_route, Number(requests)]).sort()).toEqual(
      [
        ['/', 15],
        ['/pay', 5],
      ],
    );
    expect((await answer(2))[0]).toMatchObject({ http_route: '/pay', failed: 0.2 });
    expect((await answer(6)).map(({ calls }) => Number(calls)).sort()).toEqual([15, 5]);
    expect((await answer(8))[0]).toMatchObject({ status_message: 'refused' });
    expect((await answer(9))[0]).toMatchObject({ statement: 'SELECT 1', calls: '20' });
  });
});
