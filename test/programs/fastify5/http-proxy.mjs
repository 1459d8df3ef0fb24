// @fastify/http-proxy passes headers on, and sends with undici.
import { createServer } from 'node:http';
import httpProxy from '@fastify/http-proxy';
import Fastify from 'fastify';
import { ask, listen, own } from '../program.mjs';

export const expected = `
(remote) server POST /api/* 200
  client POST stock 200
    server POST (no route) 200
      own stock {"n":1}
`;
export const alone =
  'OpenTelemetry names routes of Fastify by a plugin of its own, which changes the program.';

export async function run() {
  const stock = await listen(
    createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      own(`stock ${body}`);
      response.end('3');
    }),
    'stock',
  );
  const app = Fastify();
  app.register(httpProxy, { upstream: stock, prefix: '/api' });
  await app.ready();
  const url = await listen(app.server);
  await ask(`${url}/api/items`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
    body: '{"n":1}',
  });
  await app.close();
}
