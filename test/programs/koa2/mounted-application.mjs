// An application mounted with koa-mount, and one within that: the routes have both prefixes.
import Koa from 'koa';
import mount from 'koa-mount';
import Router from 'koa-router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /api 200
  own item undefined
server GET /api/deep/items/:id 200
  own item 2
server GET /api/items/:id 200
  own item 1
`;
export const difference =
  'OpenTelemetry has the routes of the inner router, without what it is mounted at.';

export async function run() {
  const router = new Router();
  const answer = (context) => {
    own(`item ${context.params.id}`);
    context.body = 'ok';
  };
  router.get('/items/:id', answer);
  router.get('/', answer);
  const deep = new Koa().use(router.routes());
  const api = new Koa().use(router.routes()).use(mount('/deep', deep));
  const url = await listen(new Koa().use(mount('/api', api)).listen(0, '127.0.0.1'));
  await ask(`${url}/api/items/1`);
  await ask(`${url}/api/deep/items/2`);
  await ask(`${url}/api`);
}
