// A stream as the body: what makes it, and what runs when it ends, is below the request.
import { Readable } from 'node:stream';
import Koa from 'koa';
import Router from '@koa/router';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET /export/:id 200
  own first row
  own last row
`;

export async function run() {
  const router = new Router().get('/export/:id', (context) => {
    context.body = Readable.from(
      (async function* rows() {
        own('first row');
        yield 'a\n';
        await new Promise((resolve) => setImmediate(resolve));
        own('last row');
        yield 'b\n';
      })(),
    );
  });
  const url = await listen(new Koa().use(router.routes()).listen(0, '127.0.0.1'));
  await ask(`${url}/export/7`);
}
