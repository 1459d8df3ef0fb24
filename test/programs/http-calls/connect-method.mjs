// node:http: CONNECT calls the proxy; its target is no part of a URL.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { listen, own } from '../program.mjs';

export const expected = `
own caller
  client CONNECT proxy 200
    server CONNECT (no route) -
`;
export const difference = 'OpenTelemetry records neither the answer nor the proxy. Both are HTTP.';

export async function run() {
  const server = createServer();
  server.on('connect', (_, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  const { port } = new URL(await listen(server, 'proxy'));
  await own('caller', async () => {
    const sent = request({ method: 'CONNECT', host: '127.0.0.1', port, path: 'shop.example:443' });
    sent.end();
    const [, socket] = await once(sent, 'connect');
    socket.destroy();
  });
}
