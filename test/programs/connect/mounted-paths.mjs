// Functions and an application that connect mounts: the paths of the mounts are the route.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /api/users 200
server GET /api/users 200
server GET /hook 200
`;
export const difference =
  'OpenTelemetry takes what only passes on for a route, and has the slash that connect ignores.';

export async function run() {
  // OpenTelemetry breaks the import of an ES module.
  const connect = createRequire(import.meta.url)('connect');
  const api = connect();
  api.use('/users', (_, response) => response.end());
  const app = connect();
  app.use((request, response, next) => next());
  app.use('/api', api);
  app.use('/hook/', (_, response) => response.end());
  app.use('/passing', (request, response, next) => next());
  const url = await listen(createServer(app));
  for (const path of ['/api/users/1', '/API/Users/2', '/hook/3', '/passing/4'])
    await ask(url + path);
}
