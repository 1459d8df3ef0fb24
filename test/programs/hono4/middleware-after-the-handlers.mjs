// github.com/getsentry/sentry-javascript/pull/21700: middleware for all paths that is added after the handlers.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
  own last
server GET /items/:id 200
  own handler
server GET /items/:id 403
  own refusing
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono();
  app.use('/items/*', async (c, next) => {
    if (c.req.query('refuse') !== undefined) {
      own('refusing');
      throw new HTTPException(403);
    }
    await next();
  });
  app.get('/items/:id', (c) => {
    own('handler');
    return c.text('3');
  });
  app.use(async (c, next) => {
    own('last');
    await next();
  });
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  for (const path of ['/items/1', '/items/1?refuse=1', '/missing']) await ask(url + path);
}
