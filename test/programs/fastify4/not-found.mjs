// A request without a route, also below a prefix with a handler of its own: it has none.
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET (no route) 404
  own none of the api
server HEAD /users/:id 200
server POST (no route) 404
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.get('/users/:id', async () => 'ok');
  app.register(
    async (api) => {
      api.setNotFoundHandler((_, reply) => {
        own('none of the api');
        reply.code(404).send('none');
      });
    },
    { prefix: '/api' },
  );
  await app.ready();
  const url = await listen(app.server);
  await ask(`${url}/none`);
  await ask(`${url}/api/none`);
  await ask(`${url}/users/7`, { method: 'POST' });
  await ask(`${url}/users/7`, { method: 'HEAD' });
}
