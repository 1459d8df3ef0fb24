import { createServer } from 'node:http';
import { listen, own } from '../program.mjs';

/** Starts a server that knows everything but `/missing`. @returns its URL. */
export function startStock() {
  return listen(
    createServer((request, response) => {
      own(`serve ${request.url}`);
      response.statusCode = request.url === '/missing' ? 404 : 200;
      request.resume().on('end', () => response.end('{}'));
    }),
    'stock',
  );
}
