// Functions for parameters, a redirect, and a router with a prefix in a router with a prefix that has a parameter.
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /shops/:shop/old 301
  own shop 1
server GET /shops/:shop/orders/:order 200
  own order 2 of shop 1
  own shop 1
server GET /shops/:shop/orders/:order 404
`;

export async function run() {
  const orders = new Router({ prefix: '/orders' });
  orders.get('/:order', (context) => {
    own(`order ${context.params.order} of shop ${context.params.shop}`);
    context.body = 'ok';
  });
  const shops = new Router({ prefix: '/shops/:shop' });
  shops.param('shop', async (shop, context, next) => {
    if (shop === '0') context.throw(404);
    own(`shop ${shop}`);
    await next();
  });
  shops.use(orders.routes());
  shops.redirect('/old', '/shops/1/orders/2', 301);
  const app = new Koa();
  app.silent = true;
  const url = await listen(app.use(shops.routes()).listen(0, '127.0.0.1'));
  for (const path of ['/shops/1/orders/2', '/shops/0/orders/2', '/shops/1/old'])
    await ask(url + path);
}
