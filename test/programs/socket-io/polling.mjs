// Events of Socket.IO by long polling: each is a trace of its own, apart from the request that carries it.
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { ask, listen, own } from '../program.mjs';

export const expected = `
consumer socket.io / links:1
  own order 7
server GET /socket.io/ 200
server GET /socket.io/ 200
server GET /socket.io/ 200
server POST /socket.io/ 200
server POST /socket.io/ 200
server POST /socket.io/ 200
  own connection
`;
export const alone =
  "OpenTelemetry's instrumentation of Socket.IO does not load versions of today.";

export async function run() {
  const server = createServer();
  const io = new Server(server);
  io.on('connection', (socket) => {
    own('connection');
    socket.on('order', (id) => {
      own(`order ${id}`);
      socket.emit('ordered', id);
    });
  });
  const url = `${await listen(server)}/socket.io/?EIO=4&transport=polling`;
  const { sid } = JSON.parse((await ask(url)).body.slice(1));
  const send = (body) => ask(`${url}&sid=${sid}`, { method: 'POST', body });
  await send('40');
  await ask(`${url}&sid=${sid}`);
  await send('42["order",7]');
  await ask(`${url}&sid=${sid}`);
  await send('1');
  await new Promise((resolve) => io.close(resolve));
}
