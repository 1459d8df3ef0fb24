// The server of Adonis: its router's patterns, for requests at once, answers that fail, and requests that match none.
import { createServer } from 'node:http';
import { AppFactory } from '@adonisjs/application/factories';
import { ServerFactory } from '@adonisjs/http-server/factories';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /api/users/:id? 500 !500
server GET /orders/:id 200
  own order 1
server GET /orders/:id 200
  own order 2
server HEAD /orders/:id 200
  own order 3
server POST /api/users 409
`;
export const alone = 'OpenTelemetry has no instrumentation of Adonis.';

export async function run() {
  const app = new AppFactory().create(new URL('./', import.meta.url));
  await app.init();
  const server = new ServerFactory().merge({ app }).create();
  server.use([]);
  const router = server.getRouter();
  router.get('/orders/:id', async ({ params }) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    own(`order ${params.id}`);
    return {};
  });
  router
    .group(() => {
      router.get('/users/:id?', async () => {
        throw new Error('users');
      });
      router.post('/users', async ({ response }) => response.status(409).send('taken'));
    })
    .prefix('/api');
  await server.boot();
  const url = await listen(createServer(server.handle.bind(server)));
  await Promise.all([
    ask(`${url}/orders/1`),
    ask(`${url}/orders/2`),
    ask(`${url}/orders/3`, { method: 'HEAD' }),
    ask(`${url}/api/users/4`),
    ask(`${url}/api/users`, { method: 'POST' }),
    ask(`${url}/nothing`),
  ]);
}
