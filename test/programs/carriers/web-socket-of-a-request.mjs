// A WebSocket of Node that a request opens and the program keeps: what it receives later is below nobody.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { ask, listen, own, until } from '../program.mjs';

export const nodes = 22;
export const expected = `
own heard
server GET (no route) 200
  client GET target 101
    server GET (no route) -
`;
export const alone = 'OpenTelemetry has no span for an upgrade.';

export async function run() {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const target = await listen(server, 'target');
  let socket;
  let isHeard = false;
  const url = await listen(
    createServer((request, response) => {
      socket = new WebSocket(target.replace('http', 'ws'));
      socket.onopen = () => response.end();
      socket.onmessage = () => {
        own('heard');
        isHeard = true;
      };
    }),
  );
  await ask(url);
  for (const client of sockets.clients) client.send('later');
  await until(() => isHeard);
  socket.close();
  await until(() => socket.readyState === WebSocket.CLOSED);
}
