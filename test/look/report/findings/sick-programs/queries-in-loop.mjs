// An Express service that asks PostgreSQL for each item by itself.
import { drive, library, PG } from './program.mjs';

const pool = new (library('pg').Pool)(PG);
const app = library('express')();
app.get('/orders/:id', async (_, response) => {
  const { rows } = await pool.query('SELECT generate_series(1, 20) AS id');
  for (const { id } of rows) await pool.query('SELECT $1::int AS price', [id]);
  response.send('order');
});
drive(app, ['/orders/7'], 4);
