// Requests are passed on through http-proxy, mounted by use.
import express from 'express';
import httpProxy from 'http-proxy';
import { ask, listen, otherProcess } from '../program.mjs';

export const expected = `
server GET /backend 200
  client GET backend 200
server GET /gone 502 !502
  client GET gone - !ECONNRESET
`;

export async function run() {
  const target = await otherProcess('backend');
  const goneUrl = await otherProcess('gone', { '/a/7': { fate: 'reset' } });
  const proxy = httpProxy.createProxyServer();
  const app = express();
  app.use('/backend', (request, response) =>
    proxy.web(request, response, { target, changeOrigin: true }),
  );
  app.use('/gone', (request, response) =>
    proxy.web(request, response, { target: goneUrl, changeOrigin: true }, () =>
      response.status(502).end(),
    ),
  );
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/backend/a/7`);
  await ask(`${url}/gone/a/7`);
}
