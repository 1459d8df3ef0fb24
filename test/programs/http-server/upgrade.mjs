// A connection leaves HTTP: the request lasts as long as it. What it carries later is below nobody.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server GET (no route) -
  own upgrade
`;
export const difference = 'OpenTelemetry has no span for an upgrade. It is a request as any other.';

export async function run() {
  const server = createServer();
  server.on('upgrade', (request, socket) => {
    own('upgrade');
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n',
    );
    socket.on('data', (chunk) => socket.end(chunk));
  });
  const url = await listen(server);
  const head = 'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
  await raw(url, [head, null, 'hello']);
}
