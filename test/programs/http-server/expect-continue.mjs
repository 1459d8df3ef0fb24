// The client waits for 100 before it sends the body.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own data
  own end
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      request.once('data', () => own('data'));
      request.on('end', () => {
        own('end');
        response.end('done');
      });
    }),
  );
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n';
  await raw(url, [head, null, '12345'], { until: 'done' });
}
