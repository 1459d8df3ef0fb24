// pg-boss has spans of OpenTelemetry itself. A request has started its loops, and jobs are not below that.
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { own } from '../program.mjs';

export const needs = ['postgresql'];
export const expected = `
consumer pg-boss jobs
  client pg-boss jobs
  own job 1
consumer pg-boss jobs
  client pg-boss jobs
  own job 2
own request 1
  producer pg-boss jobs
own request 2
  producer pg-boss jobs
`;
export const environment = { TRACEWRIGHT_LIBRARIES: 'koa' };

export async function run() {
  const connectionString = 'postgres://postgres@127.0.0.1:5432/postgres';
  const schema = `programs_${process.pid}`;
  const boss = new PgBoss({
    connectionString,
    schema,
    supervise: false,
    schedule: false,
  });
  boss.on('error', () => {});
  let done;
  const ended = new Promise((resolve) => {
    done = resolve;
  });
  await own('request 1', async () => {
    await boss.start();
    await boss.createQueue('jobs');
    await boss.work('jobs', { pollingIntervalSeconds: 0.5 }, async ([{ data }]) => {
      own(`job ${data.n}`);
      if (data.n === 2) done();
    });
    await boss.send('jobs', { n: 1 });
  });
  await own('request 2', () => boss.send('jobs', { n: 2 }));
  await ended;
  await boss.stop();
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`DROP SCHEMA ${schema} CASCADE`);
  await client.end();
}
