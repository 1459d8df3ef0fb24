// Handlers that never answer: the request ends when the client has gone.
import express from 'express';
import { ask, listen, until } from '../program.mjs';

export const expected = `
server GET /hook - !aborted
server GET /slow/:id - !aborted
`;
export const difference =
  'OpenTelemetry calls a request without an answer a success, and shows status 200. Nothing was sent.';

export async function run() {
  const app = express();
  let closed = 0;
  const wait = (_, response) => response.on('close', () => (closed += 1));
  app.get('/slow/:id', wait);
  app.use('/hook', wait);
  const url = await listen(app.listen(0, '127.0.0.1'));
  for (const path of ['/slow/1', '/hook/2']) {
    await ask(url + path, { abortAfter: 'sent' }).catch(() => undefined);
  }
  await until(() => closed === 2);
}
