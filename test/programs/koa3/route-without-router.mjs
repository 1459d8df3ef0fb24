// koa-route: a middleware a route.
import Koa from 'koa';
import route from 'koa-route';
import { ask, listen } from '../program.mjs';

export const expected = `
server GET (no route) 404
server GET /pets/:name 200
`;
export const difference = 'OpenTelemetry does not know koa-route.';

export async function run() {
  const app = new Koa().use(
    route.get('/pets/:name', (context, name) => {
      context.body = name;
    }),
  );
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/pets/tobi`);
  await ask(`${url}/none`);
}
