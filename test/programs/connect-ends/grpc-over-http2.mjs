// The gRPC transport of Connect: a call of gRPC on both sides.
import { createServer } from 'node:http2';
import { createClient } from '@connectrpc/connect';
import { connectNodeAdapter, createGrpcTransport } from '@connectrpc/connect-node';
import { listen, own } from '../program.mjs';
import { Shop } from './shop.mjs';

export const expected = `
own call
  client grpc shop.Shop/Call OK
    server grpc shop.Shop/Call OK
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
  const client = createClient(Shop, createGrpcTransport({ baseUrl }));
  await own('call', async () => {
    await client.call({ value: 'x' });
    own('after');
  });
  server.closeAllConnections?.();
}
