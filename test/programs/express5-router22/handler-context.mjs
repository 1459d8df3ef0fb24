// Handlers of router 2.2 that wait run below their request, also those of an error.
import { createServer } from 'node:http';
import finalhandler from 'finalhandler';
import Router from 'router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /orders/:id 500 !500
  own failed
  own load
`;
export const difference =
  'The instrumentation of router by OpenTelemetry gives a request no route.';

export async function run() {
  const router = Router();
  router.get('/orders/:id', async () => {
    await undefined;
    own('load');
    throw new Error('rejected');
  });
  router.use(async (error, _, response, next) => {
    await undefined;
    own('failed');
    if (response.headersSent) next(error);
    response.statusCode = 500;
    response.end();
  });
  const server = createServer((request, response) =>
    router(request, response, finalhandler(request, response)),
  );
  const url = await listen(server);
  await ask(`${url}/orders/7`);
}
