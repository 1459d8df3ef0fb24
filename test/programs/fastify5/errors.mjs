// Errors thrown with a status and without one, and an error handler.
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /gone/:id 410
  own handled
server GET /thrown/:id 500 !500
  own handled
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.setErrorHandler((error, _, reply) => {
    own('handled');
    reply.code(error.statusCode ?? 500).send('failed');
  });
  app.get('/gone/:id', async () => {
    throw Object.assign(new Error('gone'), { statusCode: 410 });
  });
  app.get('/thrown/:id', async () => {
    throw new Error('no');
  });
  await app.ready();
  const url = await listen(app.server);
  await ask(`${url}/gone/7`);
  await ask(`${url}/thrown/7`);
}
