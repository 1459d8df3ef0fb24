// A middleware of a router refuses a request: its route is the one that it guards.
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /accounts/:id 200
  own account
server GET /accounts/:id 401
`;
export const difference =
  'OpenTelemetry takes the pattern of the middleware. The request was for the route that it guards.';

export async function run() {
  const router = new Router({ prefix: '/accounts' });
  router.use((context, next) => {
    if (context.get('authorization') === '') context.throw(401);
    return next();
  });
  router.get('/:id', (context) => {
    own('account');
    context.body = 'ok';
  });
  const app = new Koa();
  app.silent = true;
  const url = await listen(app.use(router.routes()).listen(0, '127.0.0.1'));
  await ask(`${url}/accounts/7`);
  await ask(`${url}/accounts/7`, { headers: { authorization: 'x' } });
}
