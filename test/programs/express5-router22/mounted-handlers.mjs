// What is mounted in router 2.2: one answers, one fails, one passes on.
import { createServer } from 'node:http';
import finalhandler from 'finalhandler';
import Router from 'router';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /failing 500 !500
server GET /hook 200
`;
export const difference =
  'The instrumentation of router by OpenTelemetry gives a request no route.';

export async function run() {
  const router = Router();
  router.use('/hook', (_, response) => response.end());
  router.use('/failing', async () => {
    await undefined;
    throw Object.assign(new Error('failed'), { status: 500 });
  });
  router.use('/passing', (request, response, next) => next());
  const server = createServer((request, response) =>
    router(request, response, finalhandler(request, response)),
  );
  const url = await listen(server);
  for (const path of ['/hook/1', '/failing/1', '/passing/1']) await ask(url + path);
}
