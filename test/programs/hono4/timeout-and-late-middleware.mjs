// Hono's timeout refuses a handler, in an application with a base path within another; work after `next` is below the request.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { timeout } from 'hono/timeout';
import { streamSSE } from 'hono/streaming';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /api/v2/events/:id 200
  own after next 200
  own event
server GET /api/v2/slow/:id 504 !504
  own after next 504
`;
export const alone = 'OpenTelemetry has no instrumentation of Hono.';

export async function run() {
  const inner = new Hono().basePath('/v2');
  inner.get('/slow/:id', timeout(10), () => new Promise(() => {}));
  inner.get('/events/:id', (context) =>
    streamSSE(context, async (stream) => {
      await stream.sleep(2);
      own('event');
      await stream.writeSSE({ data: 'hello' });
    }),
  );
  const app = new Hono();
  app.use(async (context, next) => {
    await next();
    own(`after next ${context.res.status}`);
  });
  app.route('/api', inner);
  const url = await listen(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }));
  await ask(`${url}/api/v2/slow/1`);
  await ask(`${url}/api/v2/events/1`);
}
