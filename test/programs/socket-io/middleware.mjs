// What Socket.IO asks before it takes a connection, and a namespace of its own.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from 'socket.io';
import { ask, listen, own } from '../program.mjs';

export const expected = `
consumer socket.io /shop links:1
  own order 7
server GET /socket.io/ 200
server GET /socket.io/ 200
server GET /socket.io/ 200
  own allow
server POST /socket.io/ 200
server POST /socket.io/ 200
server POST /socket.io/ 200
  own authorize
  own connection
`;
export const alone =
  "OpenTelemetry's instrumentation of Socket.IO does not load versions of today.";

export async function run() {
  const server = createServer();
  const io = new Server(server, {
    allowRequest: (_, done) => {
      own('allow');
      done(null, true);
    },
  });
  const shop = io.of('/shop');
  shop.use(async (socket, next) => {
    await own('authorize', () => sleep(1));
    next();
  });
  shop.on('connection', (socket) => {
    own('connection');
    socket.on('order', (id, done) => {
      own(`order ${id}`);
      done();
    });
  });
  const url = `${await listen(server)}/socket.io/?EIO=4&transport=polling`;
  const { sid } = JSON.parse((await ask(url)).body.slice(1));
  const send = (body) => ask(`${url}&sid=${sid}`, { method: 'POST', body });
  await send('40/shop,');
  await ask(`${url}&sid=${sid}`);
  await send('42/shop,1["order",7]');
  await ask(`${url}&sid=${sid}`);
  await send('1');
  await new Promise((resolve) => io.close(resolve));
}
