// Connect over HTTP/2 without TLS.
import { createServer } from 'node:http2';
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
export const alone = 'OpenTelemetry has no instrumentation of HTTP/2.';
// Before Node 24 a server does not close the connection that the client keeps.
export const nodes = 24;

export async function run() {
  const routes = (router) =>
    router.service(Shop, {
      call: ({ value }) => ({ value }),
      async *list() {},
    });
  const server = createServer(connectNodeAdapter({ routes }));
  const baseUrl = await listen(server, 'shop');
  const client = createClient(Shop, createConnectTransport({ baseUrl, httpVersion: '2' }));
  await own('call', async () => {
    await client.call({ value: 'x' });
    own('after');
  });
  server.closeAllConnections?.();
}
