// Every hook, also onResponse, and a body: all below the request.
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /orders/:id 200
  own handler
  own onRequest
  own onResponse
  own onSend
  own preHandler
  own preParsing
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  for (const name of ['onRequest', 'preParsing', 'preHandler', 'onSend', 'onResponse']) {
    app.addHook(name, async () => own(name));
  }
  app.post('/orders/:id', async (request) => {
    own('handler');
    return request.body;
  });
  await app.ready();
  const url = await listen(app.server);
  const headers = { 'content-type': 'application/json' };
  await ask(`${url}/orders/7`, { method: 'POST', headers, body: '{"a":1}' });
}
