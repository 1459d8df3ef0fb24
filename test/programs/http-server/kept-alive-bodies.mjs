// Two requests with slow bodies on one connection: each has its own listeners.
import { createServer } from 'node:http';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own close of /POST
  own data of /POST
  own end of /POST
  own finish of /POST
server PUT (no route) 200
  own close of /PUT
  own data of /PUT
  own end of /PUT
  own finish of /PUT
`;

export async function run() {
  const url = await listen(
    createServer((request, response) => {
      response.writeProcessing();
      request.on('data', () => own(`data of ${request.url}`));
      request.on('end', () => {
        own(`end of ${request.url}`);
        response.end(`done ${request.url}`);
      });
      response.on('finish', () => own(`finish of ${request.url}`));
      response.on('close', () => own(`close of ${request.url}`));
    }),
  );
  const head = (path) =>
    `${path.slice(1)} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n`;
  const pieces = [head('/POST'), null, '1', null, head('/PUT'), null, '2'];
  await raw(url, pieces, { until: 'done /PUT' });
}
