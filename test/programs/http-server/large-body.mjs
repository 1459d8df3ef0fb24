// A body of a megabyte comes in many packets.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server PUT (no route) 200
  own end of 1000000
  own first data
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      let bytes = 0;
      request.once('data', () => own('first data'));
      request.on('data', (chunk) => (bytes += chunk.length));
      request.on('end', () => {
        own(`end of ${bytes}`);
        response.end();
      });
    }),
  );
  await ask(url, { method: 'PUT', body: 'x'.repeat(1e6) });
}
