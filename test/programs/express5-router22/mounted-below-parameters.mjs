// Routers of the package router 2.2, which keeps no pattern, within each other below parameters.
import { createServer } from 'node:http';
import finalhandler from 'finalhandler';
import Router from 'router';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /tenant/:t/orders/:o 200
server GET /tenant/:t/orders/:o 200
`;
export const difference =
  'The instrumentation of router by OpenTelemetry gives a request no route.';

export async function run() {
  const orders = Router();
  orders.get('/:o', (_, response) => response.end());
  const tenant = Router();
  tenant.use('/orders', orders);
  const router = Router();
  router.use('/tenant/:t', tenant);
  const server = createServer((request, response) =>
    router(request, response, finalhandler(request, response)),
  );
  const url = await listen(server);
  await ask(`${url}/tenant/1/orders/2`);
  await ask(`${url}/TENANT/3/Orders/4`);
}
