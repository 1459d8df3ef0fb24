// HEAD is answered by the route of GET; OPTIONS by Express itself, or by cors.
import cors from 'cors';
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server HEAD /users/:id 200
server OPTIONS (no route) 200
server OPTIONS /api 204
`;

export async function run() {
  const app = express();
  app.get('/users/:id', (_, response) => response.send('ada'));
  app.use('/api', cors(), (_, response) => response.end());
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/users/7`, { method: 'HEAD' });
  await ask(`${url}/users/7`, { method: 'OPTIONS' });
  const headers = { origin: 'http://a', 'access-control-request-method': 'PUT' };
  await ask(`${url}/api/7`, { method: 'OPTIONS', headers });
}
