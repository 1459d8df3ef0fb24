// `mount`, also twice: the application within has the rest of the path, and the route both parts.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /legacy/* 404
server GET /legacy/deep/items/:id 200
server GET /legacy/items/:id 200
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const deep = new Hono().get('/items/:id', (context) => context.text('deep'));
  const legacy = new Hono().get('/items/:id', (context) => context.text('legacy'));
  legacy.mount('/deep', deep.fetch);
  const app = new Hono();
  app.use('*', (_, next) => next());
  app.mount('/legacy', legacy.fetch);
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  for (const path of ['/items/7', '/deep/items/8', '/none']) await ask(`${url}/legacy${path}`);
}
