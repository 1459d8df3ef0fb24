// A request opens a client of ws that lives longer: what it receives then is no part of that request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { listen, own } from '../program.mjs';

export const expected = `
consumer websocket ? links:1
  own received
own request
  client GET server 101
    server GET (no route) -
`;
export const alone = 'OpenTelemetry has no instrumentation of ws, and no span for an upgrade.';

export async function run() {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const url = await listen(server);
  let received;
  const isReceived = new Promise((resolve) => {
    received = resolve;
  });
  const socket = await own('request', async () => {
    const opened = new WebSocket(url.replace('http', 'ws'));
    opened.on('message', () => {
      own('received');
      received();
    });
    await once(opened, 'open');
    return opened;
  });
  for (const client of sockets.clients) client.send('later');
  await isReceived;
  socket.close();
  await once(socket, 'close');
}
