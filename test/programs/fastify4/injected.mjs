// `inject`: below what is active, else below its sender; with a body, an error, and without a route.
import Fastify from 'fastify';
import { own } from '../program.mjs';

export const expected = `
(remote) server GET /users/:id 200
  own user
own job
  own after
  server GET /users/:id 200
    own user
server GET (no route) 404
server GET /thrown 500 !500
server POST /orders/:id 200
  own order 7
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.get('/users/:id', async () => {
    own('user');
    return 'ok';
  });
  app.get('/thrown', async () => {
    throw new Error('no');
  });
  app.post('/orders/:id', async (request) => {
    own(`order ${request.body.id}`);
    return 'ok';
  });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await app.inject({ url: '/users/7', headers: { traceparent } });
  await own('job', async () => {
    await app.inject('/users/8');
    own('after');
  });
  await app.inject({ method: 'POST', url: '/orders/7', payload: { id: 7 } });
  await app.inject('/thrown');
  await app.inject('/none');
  await app.close();
}
