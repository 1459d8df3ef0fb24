// A handler throws, and the process goes on: the request is never answered.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) - !aborted
  own uncaughtException
`;
export const difference =
  'OpenTelemetry ends the request with the throw, and the listener is outside of it. The request ends with its connection.';

export async function run() {
  let closed;
  const server = createServer((request, response) => {
    closed = once(response, 'close');
    process.once('uncaughtException', () => {
      own('uncaughtException');
      request.socket.destroy();
    });
    throw new Error('a fault');
  });
  await ask(await listen(server));
  await closed;
}
