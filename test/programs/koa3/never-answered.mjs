// A route that never answers, and a caller that gives up: the request ends with its connection.
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /slow/:id - !aborted
  own begins
server GET /works/:id 200
`;
export const difference =
  'OpenTelemetry has the status that the response would have had. Nothing was sent.';

export async function run() {
  const router = new Router();
  let begun;
  const isBegun = new Promise((resolve) => (begun = resolve));
  router.get('/slow/:id', (context) => {
    own('begins');
    context.respond = false;
    context.req.once('close', begun);
  });
  router.get('/works/:id', (context) => {
    context.body = 'ok';
  });
  const url = await listen(new Koa().use(router.routes()).listen(0, '127.0.0.1'));
  await ask(`${url}/slow/7`, { abortAfter: 'sent' });
  await isBegun;
  await ask(`${url}/works/7`);
}
