// A Fastify service that lends its two clients of Redis by generic-pool.
import { setTimeout as sleep } from 'node:timers/promises';
import { drive, library } from './program.mjs';

const { Redis } = library('ioredis');
const pool = library('generic-pool').createPool(
  { create: async () => new Redis(), destroy: (client) => client.quit() },
  { max: 2 },
);
const app = library('fastify').fastify();
app.get('/stock', () =>
  pool.use(async (client) => {
    await client.get('stock');
    await sleep(100);
    return 'enough';
  }),
);
await app.ready();
drive(app.server, ['/stock', '/stock', '/stock'], 5);
