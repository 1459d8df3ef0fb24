// Connect over HTTP/1.1.
import { createServer } from 'node:http';
import { createClient } from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
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
  const client = createClient(Shop, createConnectTransport({ baseUrl, httpVersion: '1.1' }));
  await own('call', async () => {
    await client.call({ value: 'x' });
    own('after');
  });
  server.closeAllConnections?.();
}
