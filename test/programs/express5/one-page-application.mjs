// A page for all paths that no other route has: its wildcard is the route.
import express from 'express';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /api/:id 200
server GET /{*path} 200
server GET /{*path} 200
`;
export const difference = 'OpenTelemetry calls all pages /. The wildcard has matched.';

export async function run() {
  const app = express();
  app.get('/api/:id', (_, response) => response.end());
  app.get('/{*path}', (_, response) =>
    response.sendFile('package.json', { root: import.meta.dirname }),
  );
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const path of ['/api/1', '/', '/any/page']) await ask(url + path);
}
