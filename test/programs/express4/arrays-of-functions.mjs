// Functions of use and of a route given as arrays within arrays.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /orders/:id 200
  own answer
  own check
  own load
`;

export async function run() {
  const pass = (name) => (request, response, next) => {
    own(name);
    next();
  };
  const app = express();
  app.use([pass('check'), [(request, response, next) => setImmediate(next)]]);
  app.get('/orders/:id', [pass('load')], (_, response) => {
    own('answer');
    response.end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/orders/1`);
}
