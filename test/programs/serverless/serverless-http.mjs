// serverless-http, with Express and Koa: a request of a function is below its sender.
import express from 'express';
import Koa from 'koa';
import serverless from 'serverless-http';
import { own } from '../program.mjs';

export const expected = `
(remote) server GET (no route) 200
  own koa
(remote) server GET /orders/:id 200
  own order
server GET (no route) 404
`;
export const alone = 'OpenTelemetry records no request that no socket has received.';

export async function run() {
  const app = express();
  app.get('/orders/:id', (_, response) => {
    own('order');
    setImmediate(() => response.send('ok'));
  });
  const koa = new Koa().use((context) => {
    own('koa');
    context.body = 'ok';
  });
  const event = (path, headers) => ({ httpMethod: 'GET', path, headers, requestContext: {} });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await serverless(app)(event('/orders/7', { traceparent }), {});
  await serverless(app)(event('/none', {}), {});
  await serverless(koa)(event('/koa', { traceparent }), {});
}
