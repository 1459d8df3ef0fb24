// github.com/elastic/apm-agent-nodejs/issues/3630: several functions are mounted at a path, and not the last answers.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /items 200
  own second
server GET /orders/:id 200
  own second
`;

export async function run() {
  const app = express();
  const first = (_, __, next) => next();
  const second = (_, response) => {
    own('second');
    response.send('3');
  };
  const last = (_, response) => response.send('4');
  app.use('/items', first, second, last);
  app.get('/orders/:id', first, second, last);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/items/7`);
  await ask(`${url}/orders/7`);
}
