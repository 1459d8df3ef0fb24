// JSON and a form are read: what follows is below the request.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /forms/:id 200
  own form a
server POST /orders/:id 200
  own order 7
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono();
  app.post('/orders/:id', async (context) => {
    own(`order ${(await context.req.json()).id}`);
    return context.text('ok');
  });
  app.post('/forms/:id', async (context) => {
    own(`form ${(await context.req.parseBody()).name}`);
    return context.text('ok');
  });
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/orders/7`, { method: 'POST', headers, body: '{"id":7}' });
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  await ask(`${url}/forms/7`, { method: 'POST', headers: form, body: 'name=a' });
}
