// A stream as the answer: what makes it is below the request.
import { Readable } from 'node:stream';
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /export/:id 200
  own first row
  own last row
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.get('/export/:id', (_, reply) => {
    const rows = (async function* rows() {
      own('first row');
      yield 'a';
      await new Promise((resolve) => setImmediate(resolve));
      own('last row');
      yield 'b';
    })();
    return reply.send(Readable.from(rows));
  });
  await app.ready();
  const url = await listen(app.server);
  await ask(`${url}/export/7`);
}
