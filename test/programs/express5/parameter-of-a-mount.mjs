// A router mounted below a parameter: one route for all tenants.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /tenant/:t/orders/:o 200
  own load order
`;

export async function run() {
  const orders = express.Router();
  orders.get('/orders/:o', (_, response) => {
    own('load order');
    response.end();
  });
  const app = express();
  app.use('/tenant/:t', orders);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/tenant/7/orders/9`);
}
