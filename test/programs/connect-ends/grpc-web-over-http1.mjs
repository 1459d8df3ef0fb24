// gRPC-Web begins as the content type of gRPC does, and is a request of HTTP.
import { createServer } from 'node:http';
import { createClient } from '@connectrpc/connect';
import { connectNodeAdapter, createGrpcWebTransport } from '@connectrpc/connect-node';
import { listen, own } from '../program.mjs';
import { Shop } from './shop.mjs';

export const expected = `
own call
  client POST shop 200
    server POST (no route) 200
  own after
`;

export async function run() {
  const routes = (router) =>
    router.service(Shop, {
      call: ({ value }) => ({ value }),
      async *list() {},
    });
  const server = createServer(connectNodeAdapter({ routes }));
  const baseUrl = await listen(server, 'shop');
  const client = createClient(Shop, createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }));
  await own('call', async () => {
    await client.call({ value: 'x' });
    own('after');
  });
  server.closeAllConnections?.();
}
