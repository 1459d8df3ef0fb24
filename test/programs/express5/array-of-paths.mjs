// A route and a mount with several paths each: the one that has matched is the route.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /people/:id 200
server GET /users/:id 200
server GET /v1/:tenant/orders 200
server GET /v2/orders 200
`;
export const difference =
  'OpenTelemetry joins all paths of a list. The one that has matched is the route.';

export async function run() {
  const orders = express.Router();
  orders.get('/orders', (_, response) => response.end());
  const app = express();
  app.get(['/users/:id', '/people/:id'], (_, response) => response.end());
  app.use(['/v1/:tenant', '/v2'], orders);
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const path of ['/users/1', '/people/2', '/v1/3/orders', '/v2/orders']) await ask(url + path);
}
