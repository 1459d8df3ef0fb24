// A function for all that a router does not know answers: the path of the router is the route.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /api 404
server GET /api/known 200
`;

export async function run() {
  const api = express.Router();
  api.get('/known', (_, response) => response.end());
  api.use((_, response) => response.status(404).json({ error: 'none' }));
  const app = express();
  app.use('/api', api);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/api/known`);
  await ask(`${url}/api/unknown`);
}
