// A Fastify service with a small pool, in which most of the time is lost, and a partner that now and then takes long.
import { drive, library, partner, PG } from './program.mjs';

const rates = await partner((number) => [number % 12 === 5 ? 400 : 5]);
const pool = new (library('pg').Pool)({ ...PG, max: 1 });
const app = library('fastify').fastify();
app.get('/export', async () => {
  await pool.query('SELECT pg_sleep(0.05)');
  return 'export';
});
app.get('/rate', async () => (await fetch(`${rates}/rate`)).text());
await app.ready();
drive(app.server, ['/export', '/export', '/export', '/rate'], 3);
