// The service of three databases that bench/databases-service.mjs and bench/keep.mjs load: Fastify 5, pg, mysql2 and
// redis. Its argument is the directory with the packages.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serveLoad, whenEnded } from './loaded-service.mjs';

const [, , place] = process.argv;
const require = createRequire(join(place, 'package.json'));
const fastify = require('fastify');
const mysql = require('mysql2/promise');
const { Client } = require('pg');
const { createClient } = require('redis');

const CONNECTIONS = 16;
const clients = Array.from(
  { length: CONNECTIONS },
  () =>
    new Client({ host: '127.0.0.1', user: 'postgres', database: 'postgres', password: 'secret' }),
);
await Promise.all(clients.map((client) => client.connect()));
const pool = mysql.createPool({
  host: '127.0.0.1',
  user: 'root',
  database: 'test',
  connectionLimit: CONNECTIONS,
});
const redis = await createClient({ url: 'redis://127.0.0.1:6379' }).connect();
await redis.set('tracewright-bench:7', '{"customer":"Ada"}', { EX: 3600 });

const query = { name: 'order', text: 'SELECT $1::int AS id, $2::text AS state' };
const free = [...clients];

/** What is preloaded may record the handler itself. */
const { recordHandler = (handler) => handler } = globalThis;

async function answerOrder(request) {
  const { id } = request.params;
  const cached = await redis.get(`tracewright-bench:${id}`);
  const client = free.pop() ?? clients[0];
  const { rows } = await client.query({ ...query, values: [id, 'open'] });
  free.push(client);
  const [stock] = await pool.query('SELECT ? AS pieces, 17 AS price', [3]);
  return { ...rows[0], ...JSON.parse(cached), ...stock[0] };
}

/** Asks five times as much. */
async function answerReport(request) {
  let report;
  for (let i = 0; i < 5; i++) report = await answerOrder(request);
  return report;
}

async function failOrder(request) {
  await answerOrder(request);
  throw new Error('out of stock');
}

/** What bench/keep.mjs wants of every so many requests: of 100 one that is slow, of 200 one that fails. */
function changePath(request, n) {
  if (n % 100 === 7) request.url = '/reports/7';
  else if (n % 200 === 13) request.url = '/broken/7';
}

const app = fastify();
app.get('/orders/:id', recordHandler(answerOrder));
app.get('/reports/:id', recordHandler(answerReport));
app.get('/broken/:id', recordHandler(failOrder));
await app.ready();
const isMixed = process.env.BENCH_MIXED === '1';
let served = 0;
serveLoad((request, response) => {
  if (isMixed) changePath(request, served++);
  app.routing(request, response);
});

whenEnded(() => {
  redis.destroy();
  void pool.end();
  for (const client of clients) void client.end();
});
