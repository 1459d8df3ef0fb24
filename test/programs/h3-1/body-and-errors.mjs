// h3 1: a body is read, and errors with a status and without one are thrown.
import { createServer } from 'node:http';
import { createApp, createError, createRouter, eventHandler, readBody, toNodeListener } from 'h3';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /gone/:id 410
server GET /thrown/:id 500 !500
server POST /orders/:id 200
  own order 7
`;
export const alone = 'OpenTelemetry has no instrumentation of h3.';

export async function run() {
  const router = createRouter();
  router.post(
    '/orders/:id',
    eventHandler(async (event) => {
      own(`order ${(await readBody(event)).id}`);
      return 'ok';
    }),
  );
  router.get(
    '/gone/:id',
    eventHandler(() => {
      throw createError({ statusCode: 410 });
    }),
  );
  router.get(
    '/thrown/:id',
    eventHandler(() => {
      throw new Error('no');
    }),
  );
  const app = createApp({ onError: () => undefined }).use(router);
  const url = await listen(createServer(toNodeListener(app)));
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/orders/7`, { method: 'POST', headers, body: '{"id":7}' });
  for (const path of ['/gone/1', '/thrown/1', '/none']) await ask(url + path);
}
