// Middleware goes on after the route, and in `finish`: below the request, as the route.
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /orders/:id 200
  own after next
  own finished
  own order
`;

export async function run() {
  const app = new Koa();
  app.use(async (context, next) => {
    context.res.on('finish', () => own('finished'));
    await next();
    own('after next');
  });
  const router = new Router().get('/orders/:id', async (context) => {
    await new Promise((resolve) => setImmediate(resolve));
    own('order');
    context.body = 'ok';
  });
  const url = await listen(app.use(router.routes()).listen(0, '127.0.0.1'));
  await ask(`${url}/orders/7`);
}
