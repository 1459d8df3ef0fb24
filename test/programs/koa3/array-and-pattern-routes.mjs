// Routes given as an array and as a regular expression: each has its own pattern.
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen } from '../program.mjs';

export const expected = String.raw`
server GET /^\/reports\/(\d+)$/ 200
server GET /one/:id 200
server GET /two/:id 200
`;
export const difference =
  'OpenTelemetry has no route of a regular expression. It is what the router keeps.';

export async function run() {
  const router = new Router();
  const answer = (context) => {
    context.body = 'ok';
  };
  router.get(['/one/:id', '/two/:id'], answer);
  router.get(/^\/reports\/(\d+)$/, answer);
  const url = await listen(new Koa().use(router.routes()).listen(0, '127.0.0.1'));
  for (const path of ['/one/1', '/two/2', '/reports/12']) await ask(url + path);
}
