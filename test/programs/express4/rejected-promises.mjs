// Express 4 does not wait for promises: the program hands on what fails in them.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /caught/:id 500 !500
  own load !error
server GET /wrapped/:id 500 !500
`;

export async function run() {
  const wrap = (handler) => (request, response, next) =>
    Promise.resolve(handler(request, response, next)).catch(next);
  const app = express();
  app.get('/caught/:id', async (request, response, next) => {
    try {
      await own('load', async () => {
        await undefined;
        throw new Error('caught');
      });
    } catch (error) {
      next(error);
    }
  });
  app.get(
    '/wrapped/:id',
    wrap(async () => {
      await undefined;
      throw new Error('wrapped');
    }),
  );
  app.use((error, _, response, next) => {
    if (response.headersSent) next(error);
    else response.status(500).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/caught/1`);
  await ask(`${url}/wrapped/1`);
}
