// A hook and the validation refuse a request before its handler: it has its route.
import Fastify from 'fastify';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /guarded/:id 401
server POST /orders/:id 400
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  const onRequest = async (_, reply) => reply.code(401).send('no');
  app.get('/guarded/:id', { onRequest }, async () => 'ok');
  const schema = { body: { type: 'object', required: ['amount'] } };
  app.post('/orders/:id', { schema }, async () => 'ok');
  await app.ready();
  const url = await listen(app.server);
  await ask(`${url}/guarded/7`);
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/orders/7`, { method: 'POST', headers, body: '{}' });
}
