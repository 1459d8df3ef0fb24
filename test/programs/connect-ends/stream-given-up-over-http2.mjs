// A signal gives a stream of Connect up.
import { createServer } from 'node:http2';
import { createClient } from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
import { listen, own } from '../program.mjs';
import { Shop } from './shop.mjs';

export const expected = `
own call
  client POST shop 200
    server POST (no route) 200 !aborted
  own after
`;
export const alone = 'OpenTelemetry has no instrumentation of HTTP/2.';
// Before Node 24 a server does not close the connection that the client keeps.
export const nodes = 24;

export async function run() {
  const controller = new AbortController();
  const routes = (router) =>
    router.service(Shop, {
      call: () => ({}),
      async *list(_, { signal }) {
        yield { value: 'first' };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
  const server = createServer(connectNodeAdapter({ routes }));
  const baseUrl = await listen(server, 'shop');
  const client = createClient(Shop, createConnectTransport({ baseUrl, httpVersion: '2' }));
  await own('call', async () => {
    const answers = client.list({ value: 'x' }, { signal: controller.signal });
    try {
      for await (const { value } of answers) {
        if (value === 'first') controller.abort();
      }
    } catch {
      // It was given up.
    }
    own('after');
  });
  server.closeAllConnections?.();
}
