// Plugins with prefixes within each other, of which one has a parameter; and a wildcard.
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /files/* 200
server GET /tenant/:t/orders/:o 200
  own order
server GET /tenant/:t/orders/:o 200
  own order
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const app = Fastify();
  app.get('/files/*', async () => 'file');
  app.register(
    async (tenant) => {
      tenant.register(
        async (orders) => {
          orders.get('/:o', async () => {
            own('order');
            return 'ok';
          });
        },
        { prefix: '/orders' },
      );
    },
    { prefix: '/tenant/:t' },
  );
  await app.ready();
  const url = await listen(app.server);
  for (const path of ['/tenant/7/orders/1', '/tenant/8/orders/2', '/files/a/b'])
    await ask(url + path);
}
