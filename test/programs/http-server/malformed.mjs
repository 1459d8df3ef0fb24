// What is no HTTP is no request: `clientError` is below nobody, and the requests before it are as they were.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
own clientError
server GET (no route) 200
`;
// Before, Node reports it in the context of the last request.
export const nodes = 24;

export async function run() {
  const server = createServer((request, response) => response.end('done'));
  server.on('clientError', (error, socket) => {
    own('clientError');
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  await raw(await listen(server), ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', null, 'no http\r\n\r\n']);
}
