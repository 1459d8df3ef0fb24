// Functions that pass on after a timer, a promise and a microtask stay below their request.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /late/:id 200
  own answer
  own loaded
server GET /late/:id 200
  own answer
  own loaded
`;

export async function run() {
  const app = express();
  app.use((request, response, next) => setTimeout(next, 1));
  app.use('/late', (request, response, next) => queueMicrotask(next));
  app.use((request, response, next) => {
    Promise.resolve().then(() => {
      own('loaded');
      next();
    });
  });
  app.get('/late/:id', (_, response) => {
    own('answer');
    response.end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await Promise.all([ask(`${url}/late/1`), ask(`${url}/late/2`)]);
}
