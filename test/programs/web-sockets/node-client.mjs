// github.com/newrelic/node-newrelic/issues/2337: a WebSocket of Node itself, which a request opens and another closes.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { listen, own } from '../program.mjs';

export const expected = `
consumer websocket ? links:1
  own received
own another
own request
  client GET server 101
    server GET (no route) -
  own opened
`;
export const alone = 'OpenTelemetry has no instrumentation of ws, and no span for an upgrade.';
export const nodes = 22;

export async function run() {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const received = new Promise((resolve) => {
    sockets.on('connection', (accepted) => {
      accepted.on('message', () => {
        own('received');
        resolve();
      });
    });
  });
  const url = await listen(server);
  const socket = await own('request', async () => {
    const opened = new globalThis.WebSocket(url.replace('http', 'ws'));
    await once(opened, 'open');
    own('opened');
    return opened;
  });
  socket.send('hello');
  await received;
  await own('another', async () => {
    socket.close();
    await once(socket, 'close');
  });
}
