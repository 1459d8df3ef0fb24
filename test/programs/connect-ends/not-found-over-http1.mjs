// An error of the caller is an answer of HTTP, 404: the server has not failed.
import { createServer } from 'node:http';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
import { listen, own } from '../program.mjs';
import { Shop } from './shop.mjs';

export const expected = `
own call
  client POST shop 404 !404
    server POST (no route) 404
  own after
`;

export async function run() {
  const routes = (router) =>
    router.service(Shop, {
      call() {
        throw new ConnectError('there is none', Code.NotFound);
      },
      async *list() {},
    });
  const server = createServer(connectNodeAdapter({ routes }));
  const baseUrl = await listen(server, 'shop');
  const client = createClient(Shop, createConnectTransport({ baseUrl, httpVersion: '1.1' }));
  await own('call', async () => {
    await client.call({ value: 'x' }).catch(() => {});
    own('after');
  });
  server.closeAllConnections?.();
}
