// Two requests send by one WebSocket: a message waits until the one before is compressed.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { ask, listen, outside, own } from '../program.mjs';

export const expected = `
client GET server 101
  server GET (no route) -
consumer websocket ?
consumer websocket ?
server GET (no route) 200
  own sent GET
server POST (no route) 200
  own sent POST
`;
export const alone = 'OpenTelemetry has no instrumentation of ws, and no span for an upgrade.';

export async function run() {
  let peer;
  const server = createServer(({ method }, response) => {
    peer.send('x'.repeat(200_000), { compress: true }, () => {
      own(`sent ${method}`);
      response.end();
    });
  });
  const perMessageDeflate = { threshold: 10, concurrencyLimit: 1 };
  const sockets = new WebSocketServer({ server, perMessageDeflate });
  sockets.on('connection', (socket) => (peer = socket));
  const url = await listen(server);
  const client = outside(() => new WebSocket(url.replace('http', 'ws')));
  let heard = 0;
  const all = new Promise((resolve) => {
    client.on('message', () => (heard += 1) === 2 && resolve());
  });
  await once(client, 'open');
  await Promise.all([ask(url), ask(url, { method: 'POST' }), all]);
  client.close();
  await once(client, 'close');
}
