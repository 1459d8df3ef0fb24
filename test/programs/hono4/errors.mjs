// An error of a handler, also of an application with its own onError, and an HTTPException.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /gone/:id 410
server GET /own/:id 502 !502
server GET /thrown/:id 500 !500
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const app = new Hono();
  app.get('/thrown/:id', () => {
    throw new Error('no');
  });
  app.get('/gone/:id', () => {
    throw new HTTPException(410);
  });
  app.onError((error, context) => error.getResponse?.() ?? context.text('failed', 500));
  const own = new Hono().get('/:id', () => {
    throw new Error('no');
  });
  own.onError((_, context) => context.text('failed', 502));
  app.route('/own', own);
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  for (const path of ['/thrown/1', '/gone/1', '/own/1', '/none']) await ask(url + path);
}
