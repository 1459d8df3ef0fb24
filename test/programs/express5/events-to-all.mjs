// Server-sent events: a POST writes to the responses of others, which end with their connections.
import express from 'express';
import { ask, listen, own, raw, until } from '../program.mjs';

export const expected = `
server GET /rooms/:room/events 200 !aborted
  own left
server POST /rooms/:room/messages 204
  own written to 1
`;
export const difference =
  'OpenTelemetry has no failure. The answer was not complete when its client left.';

export async function run() {
  const app = express();
  const clients = new Set();
  app.get('/rooms/:room/events', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(':\n\n');
    clients.add(response);
    response.on('close', () => {
      clients.delete(response);
      own('left');
    });
  });
  app.post('/rooms/:room/messages', (_, response) => {
    for (const client of clients) client.write('data: hello\n\n');
    own(`written to ${clients.size}`);
    response.status(204).end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const events = raw(url, ['GET /rooms/1/events HTTP/1.1\r\nhost: a\r\n\r\n'], {
    until: 'data: hello',
  });
  await until(() => clients.size === 1);
  await ask(`${url}/rooms/1/messages`, { method: 'POST' });
  await events;
  await until(() => clients.size === 0);
}
