// Jobs of graphile-worker: they carry no ids, so each begins a trace.
import { Logger, makeWorkerUtils, run as runWorker } from 'graphile-worker';
import pg from 'pg';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
own job 1
own job 2
own request 1
own request 2
`;
export const environment = { TRACEWRIGHT_LIBRARIES: 'koa' };

export async function run() {
  const connectionString = 'postgres://postgres@127.0.0.1:5432/postgres';
  const schema = `programs_worker_${process.pid}`;
  const logger = new Logger(() => () => {});
  let done;
  const ended = new Promise((resolve) => {
    done = resolve;
  });
  const utils = await makeWorkerUtils({ connectionString, schema, logger });
  await utils.migrate();
  const runner = await runWorker({
    connectionString,
    schema,
    logger,
    noHandleSignals: true,
    pollInterval: 100,
    taskList: {
      async task({ n }) {
        own(`job ${n}`);
        if (n === 2) done();
      },
    },
  });
  await own('request 1', () => utils.addJob('task', { n: 1 }));
  await own('request 2', () => utils.addJob('task', { n: 2 }));
  await ended;
  await runner.stop();
  await utils.release();
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await client.end();
}
