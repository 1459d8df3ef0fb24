// @fastify/middie: middleware answers before the router, or hands on to a route.
import middie from '@fastify/middie';
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /users/:id 200
  own middleware
  own user
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  await app.register(middie);
  app.use((_request, _response, next) => {
    own('middleware');
    next();
  });
  app.get('/users/:id', async () => {
    own('user');
    return 'ok';
  });
  await app.ready();
  const url = await listen(app.server);
  await ask(`${url}/users/7`);
}
