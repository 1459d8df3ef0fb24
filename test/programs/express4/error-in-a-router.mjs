// A handler within two routers throws: its route is the route, although another function answers.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /users/:id/boom 500 !500
server GET /users/:id/late 503 !503
  own load
`;

export async function run() {
  const router = express.Router();
  router.get('/boom', () => {
    throw new Error('boom');
  });
  router.get('/late', (_, response, next) => {
    setImmediate(() => {
      own('load');
      next(Object.assign(new Error('late'), { status: 503 }));
    });
  });
  const app = express();
  app.use('/users/:id', router);
  app.use((error, _, response, next) => {
    if (response.headersSent) next(error);
    else response.status(error.status ?? 500).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/users/3/boom`);
  await ask(`${url}/users/3/late`);
}
