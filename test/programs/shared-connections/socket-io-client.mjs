// A client of Socket.IO that the first request opens: each acknowledgement is below the request that emitted.
import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { io } from 'socket.io-client';
import { listen, own } from '../program.mjs';

export const expected = `
consumer socket.io / links:1
consumer socket.io / links:1
consumer socket.io / links:1
consumer socket.io / links:1
consumer socket.io / links:1
consumer socket.io / links:1
own request 1
  client GET server 101
    server GET /socket.io/ -
  own acknowledged 1
  own awaited 1
  own in time 1
own request 2
  own acknowledged 2
  own awaited 2
  own in time 2
`;
export const alone = 'OpenTelemetry has no span for an upgrade.';

export async function run() {
  const server = createServer();
  const sockets = new Server(server);
  sockets.on('connection', (socket) =>
    socket.on('ask', (n, answer) => setTimeout(() => answer(n), 5)),
  );
  const url = await listen(server);
  let client;
  const request = (n) =>
    own(`request ${n}`, async () => {
      client ??= io(url, { transports: ['websocket'] });
      await new Promise((resolve) => {
        client.emit('ask', n, () => {
          own(`acknowledged ${n}`);
          resolve();
        });
      });
      await new Promise((resolve) => {
        client.timeout(5000).emit('ask', n, () => {
          own(`in time ${n}`);
          resolve();
        });
      });
      await client.emitWithAck('ask', n);
      own(`awaited ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  client.close();
  await sockets.close();
}
