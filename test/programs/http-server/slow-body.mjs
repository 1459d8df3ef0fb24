// The body comes in two packets of their own, long after the handler has returned.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own data one
  own data two
  own end
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      response.writeProcessing();
      request.on('data', (chunk) => {
        own(`data ${chunk}`);
        response.writeProcessing();
      });
      request.on('end', () => {
        own('end');
        response.end('done');
      });
    }),
  );
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n';
  await raw(url, [head, null, 'one', null, 'two'], { until: 'done' });
}
