// `ctx.throw` with 4xx is an answer, with 5xx a failure, and so is any other error.
import Koa from 'koa';
import Router from 'koa-router';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET /status/:code 404
server GET /status/:code 503 !503
server GET /thrown 500 !500
`;

export async function run() {
  const router = new Router();
  router.get('/status/:code', (context) => context.throw(Number(context.params.code)));
  router.get('/thrown', async () => {
    throw new Error('no');
  });
  const app = new Koa();
  app.silent = true;
  const url = await listen(app.use(router.routes()).listen(0, '127.0.0.1'));
  for (const path of ['/status/404', '/status/503', '/thrown']) await ask(url + path);
}
