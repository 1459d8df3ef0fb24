// A route hands on to a handler of all paths, which answers.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /pages/* 200
server GET /pages/:id 200
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono();
  app.get('/pages/:id', (context, next) =>
    context.req.param('id') === 'a' ? context.text('ok') : next(),
  );
  app.all('/pages/*', (context) => context.text('any'));
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  await ask(`${url}/pages/a`);
  await ask(`${url}/pages/b`);
}
