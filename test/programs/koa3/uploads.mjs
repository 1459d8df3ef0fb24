// koa-body reads JSON and an upload: what follows is below the request.
import Koa from 'koa';
import Router from '@koa/router';
import { koaBody } from 'koa-body';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST /files/:id 200
  own file upload.txt
server POST /orders/:id 200
  own order 7
`;

export async function run() {
  const router = new Router();
  router.post('/orders/:id', koaBody(), (context) => {
    own(`order ${context.request.body.id}`);
    context.body = 'ok';
  });
  router.post('/files/:id', koaBody({ multipart: true }), (context) => {
    own(`file ${context.request.files.file.originalFilename}`);
    context.body = 'ok';
  });
  const url = await listen(new Koa().use(router.routes()).listen(0, '127.0.0.1'));
  const json = { 'content-type': 'application/json' };
  await ask(`${url}/orders/7`, { method: 'POST', headers: json, body: '{"id":7}' });
  const part = 'Content-Disposition: form-data; name="file"; filename="upload.txt"';
  const body = `--cut\r\n${part}\r\nContent-Type: text/plain\r\n\r\n${'x'.repeat(100_000)}\r\n--cut--\r\n`;
  const multipart = { 'content-type': 'multipart/form-data; boundary=cut' };
  await ask(`${url}/files/7`, { method: 'POST', headers: multipart, body });
}
