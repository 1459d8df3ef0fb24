// A proxy answers CONNECT with 407.
import { once } from 'node:events';
import { request } from 'node:http';
import { listen, own } from '../program.mjs';
import { createServer } from 'node:net';

export const expected = `
own call
  client CONNECT proxy 407 !407
  own after
`;
export const difference = 'OpenTelemetry ends the call without its status, and without an error.';

export async function run() {
  const proxy = await listen(
    createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
    }),
    'proxy',
  );
  const { hostname: host, port } = new URL(proxy);
  await own('call', async () => {
    const sent = request({ host, port, method: 'CONNECT', path: `${host}:${port}` });
    const [{ statusCode }, socket] = await once(sent.end(), 'connect');
    if (statusCode !== 407) throw new Error('it was not refused');
    socket.destroy();
    await new Promise((resolve) => socket.once('close', resolve));
    own('after');
  });
}
