// Arrays of paths and regular expressions of router 2.2.
import { createServer } from 'node:http';
import finalhandler from 'finalhandler';
import Router from 'router';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /^\\/files\\/(.+)$/ 200
server GET /people/:id 200
server GET /v2/:x/status 200
`;
export const difference =
  'The instrumentation of router by OpenTelemetry gives a request no route.';

export async function run() {
  const status = Router();
  status.get('/status', (_, response) => response.end());
  const router = Router();
  router.get(['/users/:id', '/people/:id'], (_, response) => response.end());
  router.get(/^\/files\/(.+)$/, (_, response) => response.end());
  router.use(['/v1', '/v2/:x'], status);
  const server = createServer((request, response) =>
    router(request, response, finalhandler(request, response)),
  );
  const url = await listen(server);
  for (const path of ['/people/1', '/files/a', '/v2/3/status']) await ask(url + path);
}
