// Several layers match, and hand on: the one that answers is the route.
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /files/{*path} 200
  own file
server GET /users/:id 200
  own user
`;

export async function run() {
  const router = new Router();
  router.all('/u{*rest}', (_, next) => next());
  router.get(
    '/users/:id',
    (_, next) => next(),
    (context) => {
      own('user');
      context.body = 'ok';
    },
  );
  router.get('/files/:name', (_, next) => next());
  router.get('/files/{*path}', (context) => {
    own('file');
    context.body = 'ok';
  });
  const url = await listen(new Koa().use(router.routes()).listen(0, '127.0.0.1'));
  await ask(`${url}/users/7`);
  await ask(`${url}/files/a`);
}
