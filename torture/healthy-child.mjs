// A service that nothing is wrong with: Express 5, pg and redis, a partner, a cache that fills, and a timer that renews it.
// Its argument is the directory with the packages.

import { createServer, get } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const require = createRequire(join(process.argv[2], 'package.json'));
const express = require('express');
const { Pool } = require('pg');
const { createClient } = require('redis');

const PRODUCTS = 2000;
const pool = new Pool({
  host: '127.0.0.1',
  user: 'postgres',
  database: 'postgres',
  password: 'secret',
});
const redis = await createClient({ url: 'redis://127.0.0.1:6379' }).connect();

const partner = createServer(async (_, response) => {
  await pause(2 + 3 * Math.random());
  response.end('{"rate":1.1}');
});
await new Promise((resolve) => partner.listen(0, '127.0.0.1', resolve));
const rate = () =>
  new Promise((resolve, reject) => {
    get({ port: partner.address().port, path: '/rate' }, (response) =>
      response.resume().on('end', resolve),
    ).on('error', reject);
  });

const known = new Map();
async function product(id) {
  if (!known.has(id)) {
    const text = 'SELECT $1::int AS id, repeat($2, 300) AS description';
    const { rows } = await pool.query(text, [id, 'ab']);
    known.set(id, rows[0]);
  }
  return known.get(id);
}

async function renew() {
  const { rows } = await pool.query('SELECT now() AS at, count(*) AS tables FROM pg_class');
  await redis.set(`tracewright-healthy:${process.pid}`, JSON.stringify(rows[0]), { EX: 60 });
}
await renew();
setInterval(() => void renew(), 1000).unref();

const app = express();
app.use(express.json());
app.get('/products/:id', async (request, response) => {
  const id = Number(request.params.id) % PRODUCTS;
  if (id % 50 === 0) response.status(404).json({ error: 'no such product' });
  else response.json(await product(id));
});
app.get('/cart', async (_, response) => {
  const state = await redis.get(`tracewright-healthy:${process.pid}`);
  const { rows } = await pool.query('SELECT i, i * 3 AS price FROM generate_series(1, 40) AS i');
  response.json({ state, rows });
});
app.post('/orders', async (request, response) => {
  await rate();
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT $1::int AS pieces', [request.body.pieces]);
    await client.query('SELECT pg_sleep(0.002)');
    await client.query('COMMIT');
  } finally {
    client.release();
  }
  response.status(201).json({ pieces: request.body.pieces });
});
const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.once('disconnect', () => process.exit());
