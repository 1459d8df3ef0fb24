// What answers instead of a route: a guard has the route that it guards, a handler of files its pattern.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /admin/users/:id 200
server GET /admin/users/:id 401
server GET /any/:id 200
server GET /static/* 200
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono();
  app.use('/admin/*', (context, next) =>
    context.req.header('authorization') ? next() : context.text('no', 401),
  );
  app.get('/admin/users/:id', (context) => context.text('ok'));
  app.use('/static/*', (context) => context.text('file'));
  app.all('/any/:id', (context) => context.text('ok'));
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  await ask(`${url}/admin/users/7`);
  await ask(`${url}/admin/users/7`, { headers: { authorization: 'x' } });
  await ask(`${url}/static/a.js`);
  await ask(`${url}/any/7`);
}
