// A request waits too long, and the program answers in `timeout`.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 503 !503
  own timeout
`;

export async function run() {
  const server = createServer((request, response) => {
    response.setTimeout(10, () => {
      own('timeout');
      response.writeHead(503).end();
    });
  });
  await ask(await listen(server));
}
