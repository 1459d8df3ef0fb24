// The routes of hapi: of a prefix, of a method that is cached for two requests, of failures, and of none.
import { setTimeout as sleep } from 'node:timers/promises';
import Hapi from '@hapi/hapi';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /fails/{id} 500 !500
server GET /orders/{id} 200
  own handler 1
  own loaded
server GET /orders/{id} 200
  own handler 2
server GET /shop/items/{rest*} 200
server GET /{file} 403
`;
export const alone =
  'OpenTelemetry has an instrumentation of hapi, which takes the place of what is tested here.';

export async function run() {
  const server = Hapi.server({ host: '127.0.0.1', port: 0, debug: false });
  server.method(
    'load',
    async () => {
      await sleep(10);
      own('loaded');
      return 1;
    },
    { cache: { expiresIn: 1000, generateTimeout: 500 } },
  );
  server.route([
    {
      method: 'GET',
      path: '/orders/{id}',
      async handler({ params }) {
        await server.methods.load();
        own(`handler ${params.id}`);
        return 'ok';
      },
    },
    {
      method: 'GET',
      path: '/fails/{id}',
      handler() {
        throw new Error('fails');
      },
    },
    {
      method: 'GET',
      path: '/{file}',
      options: { pre: [(_, h) => h.response('no').code(403).takeover()] },
      handler: () => 'ok',
    },
  ]);
  const shop = {
    name: 'shop',
    register: (realm) => realm.route({ method: '*', path: '/items/{rest*}', handler: () => 'ok' }),
  };
  await server.register(shop, { routes: { prefix: '/shop' } });
  await server.start();
  const url = await listen(server.listener);
  const first = ask(`${url}/orders/1`);
  await sleep(3);
  await Promise.all([first, ask(`${url}/orders/2`)]);
  for (const path of ['/fails/1', '/shop/items/a/b', '/a', '/no/such/path']) await ask(url + path);
  await server.stop();
}
