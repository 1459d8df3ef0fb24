// The program upgrades itself, after it has asked who comes.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { listen, own, outside } from '../program.mjs';

export const expected = `
client GET server 101
  server GET (no route) -
    own accepted
    own authorize
consumer websocket ? links:1
  own message
`;
export const alone = 'OpenTelemetry has no instrumentation of ws, and no span for an upgrade.';

export async function run() {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', async (request, socket, head) => {
    await own('authorize', () => sleep(1));
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      own('accepted');
      accepted.on('message', () => {
        own('message');
        accepted.close();
      });
    });
  });
  const url = await listen(server);
  const client = outside(() => new WebSocket(url.replace('http', 'ws')));
  await once(client, 'open');
  client.send('hello');
  await once(client, 'close');
}
