// HEAD has the route of GET; OPTIONS and a method without a route are answered by allowedMethods.
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen } from '../program.mjs';

export const expected = `
server DELETE (no route) 405
server HEAD /users/:id 200
server OPTIONS (no route) 200
`;

export async function run() {
  const router = new Router().get('/users/:id', (context) => {
    context.body = 'ok';
  });
  const app = new Koa().use(router.routes()).use(router.allowedMethods());
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const method of ['HEAD', 'OPTIONS', 'DELETE']) await ask(`${url}/users/7`, { method });
}
