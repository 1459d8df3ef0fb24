// What no route matches has none, also if functions that only pass on are mounted at its path.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET (no route) 404
server GET (no route) 404
server GET /api 401
`;
export const difference = 'OpenTelemetry takes functions that only pass on for routes.';

export async function run() {
  const api = express.Router();
  api.get('/known', (_, response) => response.end());
  const app = express();
  app.all('/{*all}', (request, _, next) => next());
  app.use('/api', (request, response, next) => {
    if (request.path === '/secret') response.status(401).end();
    else next();
  });
  app.use('/api', api);
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const path of ['/none', '/api', '/api/unknown', '/api/secret']) await ask(url + path);
}
