// An Express service that inserts what is there already.
import { drive, library, PG, table } from './program.mjs';

const pool = new (library('pg').Pool)(PG);
const { name, drop } = await table(pool, 'id int PRIMARY KEY');
const app = library('express')();
let next = 0;
app.post('/carts', async (_, response) => {
  await pool.query(`INSERT INTO ${name} VALUES ($1)`, [next++ % 100]);
  response.send('kept');
});
app.use((error, _, response, next) => response.status(500).send(error.code) || next);
drive(app, ['POST /carts'], 10, drop);
