// A handler hands the request to another application, which has the whole path.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /api/items/:id 200
server GET /bare/items/:id 200
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const inner = new Hono();
  inner.get('/api/items/:id', (context) => context.text('ok'));
  inner.get('/bare/items/:id', (context) => context.text('ok'));
  const app = new Hono();
  app.all('/api/*', (context) => inner.fetch(context.req.raw, context.env));
  app.all('/bare/*', (context) => inner.fetch(context.req.raw));
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  for (const path of ['/api/items/1', '/bare/items/2']) await ask(url + path);
}
