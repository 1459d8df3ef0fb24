// A request is answered by the handler of another one: its `finish` and `close` are its own.
import { createServer } from 'node:http';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own close of GET
  own finish of GET
server POST (no route) 200
  own answer the other
  own close of POST
  own finish of POST
`;

export async function run() {
  let waiting;
  const server = createServer(({ method }, response) => {
    response.on('finish', () => own(`finish of ${method}`));
    response.on('close', () => own(`close of ${method}`));
    if (method === 'GET') {
      waiting = response;
      return;
    }
    own('answer the other', () => waiting.end('news'));
    response.end();
  });
  const url = await listen(server);
  const poll = ask(url);
  await until(() => waiting !== undefined);
  await ask(url, { method: 'POST', body: 'news' });
  await poll;
}
