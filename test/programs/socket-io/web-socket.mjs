// Socket.IO over a WebSocket, at a path of its own, next to the program's requests.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { WebSocket } from 'ws';
import { ask, listen, outside, own } from '../program.mjs';

export const expected = `
client GET server 101
  server GET /live/ -
own connection
server GET (no route) 200
`;
export const alone =
  "OpenTelemetry's instrumentation of Socket.IO does not load versions of today.";

export async function run() {
  const server = createServer((_, response) => response.end('ok'));
  const io = new Server(server, { path: '/live' });
  const connected = new Promise((resolve) => {
    io.on('connection', () => {
      own('connection');
      resolve();
    });
  });
  const url = await listen(server);
  const address = `${url.replace('http', 'ws')}/live/?EIO=4&transport=websocket`;
  const client = outside(() => new WebSocket(address));
  await once(client, 'open');
  client.send('40');
  await connected;
  await ask(`${url}/other`);
  client.close();
  await once(client, 'close');
  await new Promise((resolve) => io.close(resolve));
}
