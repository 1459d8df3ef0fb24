// Libraries are not recorded: routes have the patterns of all routers nevertheless.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /tenant/:t/orders/:o 200
server GET /upload 200
`;
export const environment = { TRACEWRIGHT_LIBRARIES: 'off' };

export async function run() {
  const orders = express.Router();
  orders.get('/orders/:o', (_, response) => response.end());
  const app = express();
  app.use('/tenant/:t', orders);
  app.use('/upload', (_, response) => response.end());
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/tenant/7/orders/9`);
  await ask(`${url}/upload/1`);
}
