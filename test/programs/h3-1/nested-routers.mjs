// h3 1: routers below useBase and below a prefix of the application.
import { createServer } from 'node:http';
import { createApp, createRouter, eventHandler, toNodeListener, useBase } from 'h3';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /api/items/:id 200
  own item
server GET /third/items/:id 200
  own item
server GET /users/:id 200
`;
export const alone = 'OpenTelemetry has no instrumentation of h3.';

export async function run() {
  const items = createRouter().get(
    '/items/:id',
    eventHandler(() => {
      own('item');
      return 'ok';
    }),
  );
  const router = createRouter().get(
    '/users/:id',
    eventHandler(() => 'ok'),
  );
  router.use('/api/**', useBase('/api', items.handler));
  const app = createApp().use(router).use('/third', items.handler);
  const url = await listen(createServer(toNodeListener(app)));
  for (const path of ['/users/1', '/api/items/2', '/third/items/3']) await ask(url + path);
}
