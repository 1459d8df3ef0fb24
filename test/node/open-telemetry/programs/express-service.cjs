// An Express service that asks PostgreSQL and Redis, as CommonJS.

const express = require('express');
const pg = require('pg');
const Redis = require('ioredis');

const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'postgres', max: 2 });
const redis = new Redis(6379, '127.0.0.1');
const app = express();

app.get('/users/:id', async (request, response) => {
  const { rows } = await pool.query('SELECT $1::int AS id', [request.params.id]);
  const seen = await redis.get('tracewright-test-nothing');
  response.json({ id: rows[0].id, seen });
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`port ${server.address().port}`);
});
process.once('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await pool.end();
  redis.disconnect();
});
