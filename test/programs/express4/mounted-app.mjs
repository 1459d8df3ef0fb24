// An application mounted within another one, below a parameter.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /tenant/:t/orders/:o 200
`;

export async function run() {
  const tenant = express();
  tenant.get('/orders/:o', (_, response) => response.end());
  const app = express();
  app.use('/tenant/:t', tenant);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/tenant/7/orders/9`);
}
