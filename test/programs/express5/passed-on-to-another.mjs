// Routes that pass on, by next and by the name route: the one that answers is the route.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /users/:name 200
server GET /users/me 200
`;

export async function run() {
  const app = express();
  app.get('/users/:id', (request, _, next) =>
    next(request.params.id === 'me' ? 'route' : undefined),
  );
  app.get('/users/me', (_, response) => response.end());
  app.get('/users/:name', (_, response) => response.end());
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/users/me`);
  await ask(`${url}/users/7`);
}
