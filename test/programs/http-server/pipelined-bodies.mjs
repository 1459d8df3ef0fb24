// Two requests with bodies come in one packet.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own data of POST
  own end of POST
server PUT (no route) 200
  own data of PUT
  own end of PUT
`;

export async function run() {
  const server = createServer((request, response) => {
    const { method } = request;
    request.on('data', () => own(`data of ${method}`));
    request.on('end', () => {
      own(`end of ${method}`);
      response.end(`done ${method}`);
    });
  });
  const one = (method) => `${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`;
  await raw(await listen(server), [one('POST') + one('PUT')], { until: 'done PUT' });
}
