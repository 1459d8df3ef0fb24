// Code of no request blocks the loop: it is named by its function. Nothing says so of a request that merely waits.
import express from 'express';
import pg from 'pg';
import { ask, listen } from '../program.mjs';
import { block } from './block.mjs';

export const needs = ['postgresql'];
export const nodes = 24;
export const expected = `
server GET /products 200
  client postgresql SELECT
`;
export const waits = `
GET /products: blocked by block (blocked-loops/block.mjs:4)
`;

export async function run() {
  const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'test' });
  (await pool.connect()).release();
  const app = express();
  let isDue = false;
  const timer = setInterval(() => {
    if (isDue) block(400);
    isDue = false;
  }, 10);
  app.get('/products', async (_, response) => {
    const answer = pool.query('SELECT pg_sleep(0.1)');
    isDue = true;
    await answer;
    response.end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/products`);
  clearInterval(timer);
  await pool.end();
}
