// The proxy answers by itself, and sends a request on to another host: the other host is called below the request.
import { createServer } from 'node:http';
import { ask, listen } from '../program.mjs';
import { serveNext } from './serve.mjs';

export const expected = `
server GET (no route) 200
  client GET upstream 200
    server GET (no route) 200
  server GET (no route) 200
    own proxy
server GET (no route) 403
  server GET (no route) 200
    own proxy
`;

export async function run() {
  const upstream = createServer((_, response) => response.end('elsewhere'));
  const { url, close } = await serveNext(await listen(upstream, 'upstream'));
  await ask(`${url}/guarded/7`);
  await ask(`${url}/elsewhere/7`);
  await close();
}
