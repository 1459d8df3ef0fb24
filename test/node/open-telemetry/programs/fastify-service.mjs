// A Fastify service that asks PostgreSQL and Redis, as an ES module.

import { trace } from '@opentelemetry/api';
import Fastify from 'fastify';
import Redis from 'ioredis';
import pg from 'pg';

const pool = new pg.Pool({ host: '127.0.0.1', user: 'postgres', database: 'postgres', max: 2 });
const redis = new Redis(6379, '127.0.0.1');
const tracer = trace.getTracer('the-service', '1.2.3');
const app = Fastify();

app.get('/users/:id', async (request) =>
  tracer.startActiveSpan('load user', async (span) => {
    const { rows } = await pool.query('SELECT $1::int AS id', [request.params.id]);
    const seen = await redis.get('tracewright-test-nothing');
    span.end();
    return { id: rows[0].id, seen };
  }),
);

await app.listen({ port: 0, host: '127.0.0.1' });
console.log(`port ${app.server.address().port}`);
process.once('SIGTERM', async () => {
  app.server.closeAllConnections();
  await app.close();
  await pool.end();
  redis.disconnect();
});
