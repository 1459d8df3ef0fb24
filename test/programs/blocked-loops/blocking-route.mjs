// A route blocks the loop while another one waits for its database: that one was blocked, and its database was fast.
import { EventEmitter, once } from 'node:events';
import express from 'express';
import pg from 'pg';
import { ask, listen } from '../program.mjs';
import { block } from './block.mjs';

export const needs = ['postgresql'];
export const nodes = 24;
export const expected = `
server GET /products 200
  client postgresql SELECT
server GET /slow 200
  client postgresql SELECT
server POST /coupon 200
  client postgresql SELECT
server POST /coupon 200
  client postgresql SELECT
`;
export const waits = `
GET /products: blocked by POST /coupon
GET /slow: SELECT
POST /coupon: itself
`;

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  // Connections are made before.
  const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  for (const client of clients) client.release();
  const asked = new EventEmitter();
  const app = express();
  app.get('/products', async (_, response) => {
    const answer = pool.query('SELECT pg_sleep(0.1)');
    asked.emit('products');
    await answer;
    response.end();
  });
  app.get('/slow', async (_, response) => {
    await pool.query('SELECT pg_sleep(1.5)');
    response.end();
  });
  app.post('/coupon', async (_, response) => {
    // Nobody waits for the answer while the loop is blocked.
    const answer = pool.query('SELECT 1');
    block(400);
    await answer;
    response.end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const slow = ask(`${url}/slow`);
  const products = ask(`${url}/products`);
  await once(asked, 'products');
  await ask(`${url}/coupon`, { method: 'POST' });
  await Promise.all([slow, products]);
  await ask(`${url}/coupon`, { method: 'POST' });
  await pool.end();
}
