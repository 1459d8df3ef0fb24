// The route / of a router that is mounted adds nothing to the path of the mount.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET / 200
server GET /users 200
server GET /users 200
server GET /users/:id 200
`;
export const difference =
  'OpenTelemetry has a slash at the end of a mount, or no route. A mount ignores that slash.';

export async function run() {
  const users = express.Router();
  users.get('/', (_, response) => response.json([]));
  users.get('/:id', (_, response) => response.json({}));
  const app = express();
  app.get('/', (_, response) => response.end());
  app.use('/users/', users);
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const path of ['/', '/users', '/users/', '/users/7']) await ask(url + path);
}
