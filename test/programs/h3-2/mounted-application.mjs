// h3 2: routes, and those of an application that is mounted below a parameter.
import { createServer } from 'node:http';
import { H3 } from 'h3';
import { toNodeHandler } from 'srvx/node';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /tenant/:t/orders/:o 200
  own order
server GET /users/:id 200
`;
export const alone = 'OpenTelemetry has no instrumentation of h3.';

export async function run() {
  const orders = new H3().get('/orders/:o', () => {
    own('order');
    return 'ok';
  });
  const app = new H3().get('/users/:id', () => 'ok').mount('/tenant/:t', orders);
  const url = await listen(createServer(toNodeHandler(app.fetch)));
  for (const path of ['/users/1', '/tenant/7/orders/2', '/none']) await ask(url + path);
}
