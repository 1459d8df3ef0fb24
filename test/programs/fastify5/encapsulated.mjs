// A plugin with a prefix has hooks, an error handler and a handler for what is not found of its own.
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET (no route) 404
  own hook of the plugin
  own not found in the plugin
server GET /api/v1/broken/:id 502 !502
  own error in the plugin
  own hook of the plugin
server GET /plain/:id 200
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.get('/plain/:id', async () => 'ok');
  app.register(
    async (plugin) => {
      plugin.addHook('onRequest', async () => {
        await new Promise((resolve) => setTimeout(resolve, 2));
        own('hook of the plugin');
      });
      plugin.setErrorHandler((_, __, reply) => {
        setTimeout(() => {
          own('error in the plugin');
          reply.code(502).send('no');
        }, 2);
      });
      plugin.setNotFoundHandler((_, reply) => {
        own('not found in the plugin');
        reply.code(404).send('none');
      });
      plugin.get('/broken/:id', async () => {
        throw new Error('broken');
      });
    },
    { prefix: '/api/v1' },
  );
  await app.ready();
  const url = await listen(app.server);
  for (const path of ['/plain/1', '/api/v1/broken/1', '/api/v1/none', '/none'])
    await ask(url + path);
}
