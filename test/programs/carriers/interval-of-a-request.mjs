// An interval that a request begins stays below it; requests that come meanwhile do not.
import { createServer } from 'node:http';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own tick
  own tick
server POST (no route) 200
  own other request
`;

export async function run() {
  let ticks = 0;
  const url = await listen(
    createServer((request, response) => {
      if (request.method === 'GET') {
        const interval = setInterval(() => {
          own('tick');
          ticks += 1;
          if (ticks === 2) clearInterval(interval);
        }, 5);
      } else own('other request');
      response.end();
    }),
  );
  await ask(url);
  await ask(url, { method: 'POST' });
  await until(() => ticks === 2);
}
