// `on` with several methods and paths, HEAD, and a method without a route.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /one/:id 200
server HEAD /one/:id 200
server POST (no route) 404
server PUT /two/:id 200
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono().on(['GET', 'PUT'], ['/one/:id', '/two/:id'], (context) =>
    context.text('ok'),
  );
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  await ask(`${url}/one/1`);
  await ask(`${url}/one/1`, { method: 'HEAD' });
  await ask(`${url}/two/1`, { method: 'PUT' });
  await ask(`${url}/one/1`, { method: 'POST' });
}
