// A server of Socket.IO asks a client for each request: what comes back is below the request.
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { ask, listen, outside, own } from '../program.mjs';

export const expected = `
client GET server 101
  server GET /socket.io/ -
server GET (no route) 200
  own answered GET
server POST (no route) 200
  own answered POST
`;
export const alone =
  "OpenTelemetry's instrumentation of Socket.IO does not load versions of today.";

export async function run() {
  const server = createServer();
  const sockets = new Server(server);
  let peer;
  const connected = new Promise((resolve) => {
    sockets.on('connection', (socket) => {
      peer = socket;
      resolve();
    });
  });
  server.on('request', ({ method, url }, response) => {
    if (url.startsWith('/socket.io/')) return;
    peer.emit('question', () => {
      own(`answered ${method}`);
      response.end();
    });
  });
  const url = await listen(server);
  const client = outside(() => io(url, { transports: ['websocket'] }));
  client.on('question', (answer) => setTimeout(answer, 5));
  await connected;
  await Promise.all([ask(url), ask(url, { method: 'POST' })]);
  client.close();
  await new Promise((resolve) => sockets.close(resolve));
}
