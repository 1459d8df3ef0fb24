// An Express service with one connection to PostgreSQL, and reports that take long.
import { drive, library, PG } from './program.mjs';

const pool = new (library('pg').Pool)({ ...PG, max: 1 });
const app = library('express')();
app.get('/report', async (_, response) => {
  await pool.query('SELECT pg_sleep(0.08)');
  response.send('report');
});
app.get('/user', async (_, response) => {
  await pool.query('SELECT 1');
  response.send('user');
});
drive(app, ['/report', '/report', '/user'], 4);
