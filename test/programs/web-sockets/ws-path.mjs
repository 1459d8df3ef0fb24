// A server of ws at a path: that is the route of its connections.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { listen, own, outside } from '../program.mjs';

export const expected = `
client GET server 101
  server GET /live -
    own connection
consumer websocket ?
consumer websocket ? links:1
  own message hello
`;
export const alone = 'OpenTelemetry has no instrumentation of ws, and no span for an upgrade.';

export async function run() {
  const server = createServer();
  const sockets = new WebSocketServer({ server, path: '/live' });
  sockets.on('connection', (socket) => {
    own('connection');
    socket.on('message', (text) => {
      own(`message ${text}`);
      socket.send('done');
    });
  });
  const url = await listen(server);
  const client = outside(() => new WebSocket(`${url.replace('http', 'ws')}/live?token=1`));
  await once(client, 'open');
  client.send('hello');
  await once(client, 'message');
  client.close();
  await once(client, 'close');
}
