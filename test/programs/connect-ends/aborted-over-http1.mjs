// A signal gives a call of Connect up.
import { createServer } from 'node:http';
import { createClient } from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
import { listen, own } from '../program.mjs';
import { Shop } from './shop.mjs';

export const expected = `
own call
  client POST shop -
    server POST (no route) - !aborted
  own after
`;
export const difference =
  'OpenTelemetry reports an error: the program has given the call up itself, so nothing has failed.';

export async function run() {
  const controller = new AbortController();
  const routes = (router) =>
    router.service(Shop, {
      call: (_, { signal }) => {
        controller.abort();
        return new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
      async *list() {},
    });
  const server = createServer(connectNodeAdapter({ routes }));
  const baseUrl = await listen(server, 'shop');
  const client = createClient(Shop, createConnectTransport({ baseUrl, httpVersion: '1.1' }));
  await own('call', async () => {
    await client.call({ value: 'x' }, { signal: controller.signal }).catch(() => {});
    own('after');
  });
  server.closeAllConnections?.();
}
