// A handler starts another server, such as one for metrics: its requests are not below that of the handler.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
server POST (no route) 200
  own data
`;

export async function run() {
  const later = createServer((request, response) => {
    request.on('data', () => own('data'));
    request.on('end', () => response.end());
  });
  let url;
  const server = createServer(async (request, response) => {
    url = await listen(later, 'later');
    response.end();
  });
  await ask(await listen(server));
  await ask(url, { method: 'POST', body: 'small' });
}
