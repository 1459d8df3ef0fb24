// Routers within each other below a parameter: one route for all tenants.
import Koa from 'koa';
import Router from 'koa-router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /tenant/:t/orders/:o 200
  own order
server GET /tenant/:t/orders/:o 200
  own order
`;
export const difference =
  'OpenTelemetry takes the path that the routers are used at. The pattern of both is the route.';

export async function run() {
  const orders = new Router({ prefix: '/orders' });
  orders.get('/:o', (context) => {
    own('order');
    context.body = 'ok';
  });
  const tenants = new Router();
  tenants.use('/tenant/:t', orders.routes(), orders.allowedMethods());
  const url = await listen(new Koa().use(tenants.routes()).listen(0, '127.0.0.1'));
  await ask(`${url}/tenant/7/orders/9`);
  await ask(`${url}/tenant/8/orders/10`);
}
