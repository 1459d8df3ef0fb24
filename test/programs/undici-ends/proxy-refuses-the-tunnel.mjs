// A proxy answers CONNECT with 407. Undici reports no status of that, so the call to the target fails by the refusal.
import { createServer } from 'node:net';
import { ProxyAgent, request } from 'undici';
import { listen, own } from '../program.mjs';

export const expected = `
own call
  client CONNECT proxy 407 !407
  client GET proxy - !ERR_PROXY_TUNNEL
  own after
`;
export const difference = 'OpenTelemetry names the proxy as who CONNECT asks for.';

export async function run() {
  const proxy = await listen(
    createServer((socket) => {
      socket.once('data', () =>
        socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'),
      );
    }),
    'proxy',
  );
  const dispatcher = new ProxyAgent(proxy);
  await own('call', async () => {
    await request(proxy.replace('http:', 'https:'), { dispatcher }).catch(() => {});
    own('after');
  });
  await dispatcher.close();
}
