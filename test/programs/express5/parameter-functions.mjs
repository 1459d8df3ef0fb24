// Functions for a parameter load what it names, or refuse it.
import express from 'express';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /users/:user 200
  own load ada
server GET /users/:user 404
`;
export const difference =
  'OpenTelemetry has only the mount if a function of a parameter fails. The route had matched.';

export async function run() {
  const users = express.Router();
  users.param('user', (request, _, next, name) => {
    if (name === 'none') {
      next(Object.assign(new Error('no such user'), { status: 404 }));
      return;
    }
    own(`load ${name}`);
    request.user = { name };
    next();
  });
  users.get('/:user', (request, response) => response.json(request.user));
  const app = express();
  app.use('/users', users);
  app.use((error, _, response, next) => {
    if (response.headersSent) next(error);
    else response.status(error.status).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/users/ada`);
  await ask(`${url}/users/none`);
}
