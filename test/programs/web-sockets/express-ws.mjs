// Routes of express-ws, which adds an end to their paths, one of them below a mounted router.
import { once } from 'node:events';
import express from 'express';
import expressWs from 'express-ws';
import { WebSocket } from 'ws';
import { listen, own } from '../program.mjs';

export const expected = `
client GET server 101
  server GET /echo/:id -
    own handler 7
client GET server 101
  server GET /rooms/:id -
    own handler 8
consumer websocket ?
consumer websocket ?
consumer websocket ? links:1
consumer websocket ? links:1
`;
export const alone = 'OpenTelemetry has no instrumentation of ws, and no span for an upgrade.';

export async function run() {
  const { app, applyTo } = expressWs(express());
  const answer = (socket, { params }) => {
    own(`handler ${params.id}`);
    socket.on('message', (data) => {
      socket.send(String(data));
    });
  };
  app.ws('/echo/:id', answer);
  const rooms = express.Router();
  applyTo(rooms);
  rooms.ws('/:id', answer);
  app.use('/rooms', rooms);
  const server = app.listen(0, '127.0.0.1');
  const url = (await listen(server)).replace('http', 'ws');
  for (const path of ['/echo/7', '/rooms/8']) {
    const socket = new WebSocket(url + path);
    await once(socket, 'open');
    socket.send('hello');
    await once(socket, 'message');
    socket.close();
    await once(socket, 'close');
  }
}
