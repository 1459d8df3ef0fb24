// A middleware mounted at a prefix, as those for files: the prefix is the route of all that it answers.
import Koa from 'koa';
import mount from 'koa-mount';
import Router from '@koa/router';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /static 200
server GET /static 200
server GET /static/late/:id 200
`;
export const difference =
  'OpenTelemetry has no routes of what is mounted. The prefix is one for all files.';

export async function run() {
  const app = new Koa();
  app.use(
    mount('/static', (context, next) => {
      if (context.path.startsWith('/late')) return next();
      context.body = 'file';
    }),
  );
  const router = new Router().get('/static/late/:id', (context) => {
    context.body = 'late';
  });
  const url = await listen(app.use(router.routes()).listen(0, '127.0.0.1'));
  await ask(`${url}/static/a.js`);
  await ask(`${url}/static/b.js`);
  await ask(`${url}/static/late/1`);
  await ask(`${url}/none`);
}
