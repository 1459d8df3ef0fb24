// Handlers that answer and pass on nevertheless: what follows is not the route.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /mounted 200
server GET /users/:id 200
`;
export const difference =
  'OpenTelemetry has the route that a handler passed on to after its answer. What has answered is the route.';

export async function run() {
  const app = express();
  app.use('/mounted', (_, response, next) => {
    response.end();
    next();
  });
  app.get('/users/:id', (_, response, next) => {
    response.end();
    next();
  });
  app.use('/users', (request, response, next) => next());
  app.get('/users/*', (_, response) => response.headersSent);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/users/7`);
  await ask(`${url}/mounted`);
}
