// With TRACEWRIGHT_KEEP=errors, an error of Fastify with a status of 422 is no reason to keep its trace.
import fastify from 'fastify';
import { ask, listen } from '../program.mjs';

export const expected = `

`;
export const alone = 'OpenTelemetry decides before a request is over.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const app = fastify();
  app.get('/', async () => {
    throw Object.assign(new Error('odd'), { statusCode: 422 });
  });
  await app.listen({ port: 0 });
  await ask(await listen(app.server));
}
