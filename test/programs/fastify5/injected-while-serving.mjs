// A handler injects a request into its own application: a part of the request that it serves.
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /outer/:id 200
  own after
  server GET /inner/:id 200
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.get('/inner/:id', async () => 'inner');
  app.get('/outer/:id', async () => {
    const { body } = await app.inject('/inner/8');
    own('after');
    return body;
  });
  await app.ready();
  const url = await listen(app.server);
  await ask(`${url}/outer/7`);
}
