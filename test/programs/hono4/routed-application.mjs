// `route` and `basePath`: the whole pattern, with the parameters of the prefix.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /tenant/:t/orders/:o 200
server GET /tenant/:t/orders/:o 200
server GET /v1/users/:id 200
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const orders = new Hono().get('/orders/:o', (context) => context.text('ok'));
  const users = new Hono().basePath('/v1').get('/users/:id', (context) => context.text('ok'));
  const app = new Hono().route('/tenant/:t', orders).route('/', users);
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  for (const path of ['/tenant/7/orders/1', '/tenant/8/orders/2', '/v1/users/3'])
    await ask(url + path);
}
