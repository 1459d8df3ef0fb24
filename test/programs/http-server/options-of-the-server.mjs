// OPTIONS of `*`, the server itself.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server OPTIONS (no route) 204
  own options of *
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      own(`options of ${request.url}`);
      response.writeHead(204, { allow: 'GET' }).end();
    }),
  );
  await raw(url, ['OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n']);
}
