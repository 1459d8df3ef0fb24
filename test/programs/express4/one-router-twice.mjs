// One router is mounted at two paths: each has its own routes.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /v1/users/:id 200
server GET /v1/users/:id 200
server GET /v2/users/:id 200
`;

export async function run() {
  const api = express.Router();
  api.get('/users/:id', (_, response) => response.end());
  const app = express();
  app.use('/v1', api);
  app.use('/v2', api);
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const path of ['/v1/users/1', '/v2/users/2', '/v1/users/3']) await ask(url + path);
}
