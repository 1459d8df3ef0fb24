// @fastify/websocket hands an upgraded connection to a route.
import { once } from 'node:events';
import websocket from '@fastify/websocket';
import Fastify from 'fastify';
import { WebSocket } from 'ws';
import { listen, outside, own } from '../program.mjs';

export const expected = `
client GET server 101
  server GET /chat/:room -
    own opened lobby
consumer websocket ? links:1
  own message
`;
export const alone = 'OpenTelemetry has no instrumentation of ws, and no span for an upgrade.';

export async function run() {
  const app = Fastify();
  await app.register(websocket);
  app.get('/chat/:room', { websocket: true }, (socket, request) => {
    own(`opened ${request.params.room}`);
    socket.on('message', () => {
      own('message');
      socket.close();
    });
  });
  await app.ready();
  const url = await listen(app.server);
  const client = outside(() => new WebSocket(`${url.replace('http', 'ws')}/chat/lobby`));
  await once(client, 'open');
  client.send('hello');
  await once(client, 'close');
  await app.close();
}
