// An Express service that asks in a loop, and whose orders fail because of a constraint.
import { drive, library, PG, table } from './program.mjs';

const pool = new (library('pg').Pool)(PG);
const { name, drop } = await table(pool, 'amount int CHECK (amount > 0)');
const app = library('express')();
app.get('/list', async (_, response) => {
  for (let at = 0; at < 12; at++) await pool.query('SELECT $1::int AS item', [at]);
  response.send('list');
});
let ordered = 0;
app.post('/order', async (_, response) => {
  await pool.query(`INSERT INTO ${name} VALUES ($1)`, [ordered++ % 8]);
  response.send('ordered');
});
app.use((error, _, response, next) => response.status(500).send(error.code) || next);
drive(app, ['/list', 'POST /order'], 4, drop);
