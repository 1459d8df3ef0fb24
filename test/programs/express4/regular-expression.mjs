// Routes and mounts that are regular expressions: the route is their text, the same for all that match.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /^\\/files\\/(\\d+)$/ 200
server GET /^\\/files\\/(\\d+)$/ 200
server GET /^\\/v\\d+/status 200
`;

export async function run() {
  const api = express.Router();
  api.get('/status', (_, response) => response.end());
  const app = express();
  app.get(/^\/files\/(\d+)$/, (_, response) => response.end());
  app.use(/^\/v\d+/, api);
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const path of ['/files/1', '/files/2', '/v3/status']) await ask(url + path);
}
