// A handler finds nothing and passes on, so a page for 404 answers: the route is that of the handler.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /users/:id 404
`;
export const difference =
  'OpenTelemetry drops the route when its handler passes on. The handler of the route has decided that there is none.';

export async function run() {
  const app = express();
  app.get('/users/:id', (request, response, next) => next());
  app.use((_, response) => response.status(404).send('none'));
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/users/7`);
}
