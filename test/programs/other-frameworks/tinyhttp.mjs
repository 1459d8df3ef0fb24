// The routes of tinyhttp: its own, those of a mounted application, and none. Mounts in a list are not known.
import { App } from '@tinyhttp/app';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own item 4
server GET (no route) 404
server GET / 200
server GET /api/items/:id 200
  own item 3
server GET /users/:id 200
  own user 7
`;
export const difference = 'OpenTelemetry has no routes of tinyhttp.';

export async function run() {
  const items = () =>
    new App().get('/items/:id', ({ params }, response) => {
      own(`item ${params.id}`);
      response.end();
    });
  const app = new App();
  app.use(async (request, response, next) => next());
  app.use('/api', items());
  app.use(['/v1', '/v2'], items());
  app.get('/', (request, response) => response.end());
  app.get('/users/:id', async ({ params }, response) => {
    own(`user ${params.id}`);
    response.end();
  });
  const url = await listen(app.listen(0, undefined, '127.0.0.1'));
  for (const path of ['/', '/users/7', '/api/items/3', '/v2/items/4', '/none']) {
    await ask(url + path);
  }
}
