// A chunked body ends with trailers.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own trailer 6
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        own(`trailer ${request.trailers['x-sum']}`);
        response.end('done');
      });
    }),
  );
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n';
  await raw(url, [head, '3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n'], { until: 'done' });
}
