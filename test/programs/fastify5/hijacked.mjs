// A handler takes the response from Fastify, and answers by node:http later.
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /raw/:id 201
  own answered by hand
  own onRequest
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.addHook('onRequest', (_, __, done) => {
    own('onRequest');
    done();
  });
  app.get('/raw/:id', (_, reply) => {
    reply.hijack();
    setTimeout(() => {
      own('answered by hand');
      reply.raw.writeHead(201);
      reply.raw.end('ok');
    }, 2);
  });
  await app.ready();
  await ask(`${await listen(app.server)}/raw/7`);
}
