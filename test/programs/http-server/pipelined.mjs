// Three requests come at once and the first takes longest: the others wait, and each has its own `finish` and `close`.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, own, raw } from '../program.mjs';

export const expected = `
server DELETE (no route) 200
  own close of DELETE
  own finish of DELETE
  own sent DELETE
server GET (no route) 200
  own close of GET
  own finish of GET
  own sent GET
server PUT (no route) 200
  own close of PUT
  own finish of PUT
  own sent PUT
`;
export const difference =
  'OpenTelemetry has the callbacks of end() of waiting answers below the request that they waited for.';

export async function run() {
  const server = createServer(async ({ method }, response) => {
    response.on('finish', () => own(`finish of ${method}`));
    response.on('close', () => own(`close of ${method}`));
    if (method === 'GET') await sleep(20);
    response.end(`done ${method}`, () => own(`sent ${method}`));
  });
  const one = (method) => `${method} / HTTP/1.1\r\nHost: a\r\n\r\n`;
  await raw(await listen(server), [one('GET') + one('PUT') + one('DELETE')], {
    until: 'done DELETE',
  });
}
