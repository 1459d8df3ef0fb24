// A server that only upgrades: it has no handler of requests.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server GET (no route) -
  own upgrade
`;
export const alone = 'OpenTelemetry has no span for an upgrade.';

export async function run() {
  const server = createServer();
  server.on('upgrade', (request, socket) => {
    own('upgrade');
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n');
  });
  await raw(await listen(server), [
    'GET /socket HTTP/1.1\r\nHost: a\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n',
    null,
  ]);
}
