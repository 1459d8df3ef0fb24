// The handler refuses at once, and reads the rest of the body afterwards.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) 413
  own end
  own rest of the body
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      response.writeHead(413).end('too large');
      request.on('data', () => own('rest of the body'));
      request.on('end', () => {
        own('end');
        request.socket.end();
      });
    }),
  );
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n';
  await raw(url, [head, null, '12345']);
}
