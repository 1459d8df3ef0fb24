// Express 5 hands on what a promise of a handler is rejected with.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /api 500 !500
server GET /api/orders/:id 500 !500
  own load !error
`;

export async function run() {
  const api = express.Router();
  api.get('/orders/:id', async () => {
    await own('load', async () => {
      await undefined;
      throw new Error('rejected');
    });
  });
  api.use(async () => {
    await undefined;
    throw new Error('also rejected');
  });
  const app = express();
  app.use('/api', api);
  app.use(async (error, _, response, next) => {
    await undefined;
    if (response.headersSent) next(error);
    else response.status(500).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/api/orders/1`);
  await ask(`${url}/api/none`);
}
