// The service that bench/libraries-service.mjs loads: Express 5, ioredis, pg and fetch. Arguments: the directory
// with the packages, and the port of the service that it asks.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serveLoad } from './loaded-service.mjs';

const [, , place, backend] = process.argv;
const require = createRequire(join(place, 'package.json'));
const express = require('express');
const Redis = require('ioredis');
const { Client } = require('pg');

/** Instead of a pool, because OpenTelemetry records each take from a pool as one more span. One for each connection. */
const CLIENTS = 16;
const redis = new Redis();
const clients = Array.from(
  { length: CLIENTS },
  () =>
    new Client({ host: '127.0.0.1', user: 'postgres', database: 'postgres', password: 'secret' }),
);
await Promise.all(clients.map((client) => client.connect()));
await redis.set('tracewright-bench:7', '{"customer":"Ada"}', 'EX', 3600);

const query = { name: 'order', text: 'SELECT $1::int AS id, $2::text AS state' };
const free = [...clients];

/** What is preloaded may record the handler itself. */
const { recordHandler = (handler) => handler } = globalThis;

async function answerOrder(request, response) {
  const { id } = request.params;
  const cached = await redis.get(`tracewright-bench:${id}`);
  const client = free.pop() ?? clients[0];
  const { rows } = await client.query({ ...query, values: [id, 'open'] });
  free.push(client);
  const answer = await fetch(`http://127.0.0.1:${backend}/stock/${id}`);
  response.json({ ...rows[0], ...JSON.parse(cached), stock: await answer.json() });
}

const app = express();
app.get('/orders/:id', recordHandler(answerOrder));
serveLoad(app);

process.once('disconnect', () => {
  redis.disconnect();
  for (const client of clients) void client.end();
});
