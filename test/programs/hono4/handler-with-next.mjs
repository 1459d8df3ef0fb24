// Handlers that declare `next`: they are routes, whatever their arity.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /logged/:id 200
  own logged
server GET /users/:id 200
  own user
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono();
  app.get('/users/:id', async (context, _next) => {
    own('user');
    return context.text('ok');
  });
  app.use('/logged/*', async function log() {
    await arguments[1]();
  });
  app.get('/logged/:id', (context, _next) => {
    own('logged');
    return context.text('ok');
  });
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  await ask(`${url}/users/7`);
  await ask(`${url}/logged/7`);
}
