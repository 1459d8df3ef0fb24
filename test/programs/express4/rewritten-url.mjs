// A middleware changes the URL before the routes, and one dispatches the request anew.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /users/:id 200
server GET /users/:id 200
`;

export async function run() {
  const app = express();
  app.use((request, response, next) => {
    if (request.url.startsWith('/old')) request.url = request.url.replace('/old', '/users');
    next();
  });
  app.get('/users/:id', (_, response) => response.end());
  app.use((request, response, next) => {
    if (!request.url.startsWith('/legacy')) {
      next();
      return;
    }
    request.url = request.url.replace('/legacy', '/users');
    app.handle(request, response, next);
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/old/7`);
  await ask(`${url}/legacy/7`);
}
