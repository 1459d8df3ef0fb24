// Koa's applications mounted in Express, as oidc-provider is: its routes have the patterns of the mounts.
import express from 'express';
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /oidc 404
server GET /oidc/keys/:id 200
  own key 1
server GET /tenants/:tenant/oidc/keys/:id 200
  own key 2
server GET /whole/keys/:id 200
  own key 3
`;
export const difference =
  'OpenTelemetry joins no pattern of Express with one of Koa, and Express has none of Koa.';

export async function run() {
  const router = new Router();
  const answer = (context) => {
    own(`key ${context.params.id}`);
    context.body = 'ok';
  };
  router.get('/keys/:id', answer);
  const koa = new Koa().use(router.routes()).callback();
  const whole = new Koa().use(new Router().get('/whole/keys/:id', answer).routes()).callback();
  const app = express();
  app.use('/oidc', koa);
  const tenants = express.Router({ mergeParams: true });
  tenants.use('/oidc', koa);
  app.use('/tenants/:tenant', tenants);
  // A route does not cut the path.
  app.all('/whole/*rest', whole);
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/oidc/keys/1`);
  await ask(`${url}/tenants/7/oidc/keys/2`);
  await ask(`${url}/whole/keys/3`);
  await ask(`${url}/oidc/none`);
}
