// One server answers requests and takes connections of ws: each of them is its own.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { ask, listen, own, outside } from '../program.mjs';

export const expected = `
client GET server 101
  server GET (no route) -
    own connection
server POST (no route) 200
  own end
`;
export const alone = 'OpenTelemetry has no instrumentation of ws, and no span for an upgrade.';

export async function run() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      own('end');
      response.end();
    });
  });
  new WebSocketServer({ server }).on('connection', () => own('connection'));
  const url = await listen(server);
  const client = outside(() => new WebSocket(url.replace('http', 'ws')));
  await once(client, 'open');
  await ask(url, { method: 'POST', body: 'small' });
  client.close();
  await once(client, 'close');
}
