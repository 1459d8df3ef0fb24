// The routes of polka: its own, those of a mounted application, and none.
import polka from 'polka';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET / 200
server GET /api/items/:id 200
  own item 3
server GET /users/:id 200
  own user 7
server GET /users/:id 500 !500
`;
export const difference = 'OpenTelemetry has no routes of polka.';

export async function run() {
  const api = polka().get('items/:id', ({ params }, response) => {
    own(`item ${params.id}`);
    response.end();
  });
  const app = polka()
    .use((request, response, next) => setImmediate(next))
    .use('/api', api)
    .get('/', (request, response) => response.end())
    .get('/users/:id', ({ params }, response, next) => {
      if (params.id === '8') {
        next(new Error('fails'));
        return;
      }
      own(`user ${params.id}`);
      response.end();
    });
  app.listen(0, '127.0.0.1');
  const url = await listen(app.server);
  for (const path of ['/', '/users/7', '/users/8', '/api/items/3', '/none']) await ask(url + path);
}
