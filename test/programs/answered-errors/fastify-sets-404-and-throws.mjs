// A handler of Fastify that sets a status, then throws: the status counts.
import fastify from 'fastify';
import { ask, listen } from '../program.mjs';

export const expected = `

`;
export const alone = 'OpenTelemetry decides before a request is over.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const app = fastify();
  app.get('/', async (_, reply) => {
    reply.code(404);
    throw new Error('there is none');
  });
  await app.listen({ port: 0 });
  await ask(await listen(app.server));
}
