// Requests are passed on through http-proxy-middleware, mounted by use.
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { ask, listen, otherProcess } from '../program.mjs';

export const expected = `
server GET /backend 200
  client GET backend 200
server GET /gone 504 !504
  client GET gone - !ECONNRESET
`;

export async function run() {
  const target = await otherProcess('backend');
  const goneUrl = await otherProcess('gone', { '/a/7': { fate: 'reset' } });
  const app = express();
  app.use('/backend', createProxyMiddleware({ target, changeOrigin: true }));
  app.use('/gone', createProxyMiddleware({ target: goneUrl, changeOrigin: true }));
  const url = await listen(app.listen(0, '127.0.0.1'));
  await ask(`${url}/backend/a/7`);
  await ask(`${url}/gone/a/7`);
}
