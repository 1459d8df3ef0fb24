// A flush that the program repeats is below nobody, also where it settles a request's promise.
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
own flush
server GET (no route) 200
  own flushed
`;

export async function run() {
  const waiting = [];
  const interval = setInterval(() => {
    if (waiting.length === 0) return;
    own('flush');
    for (const resolve of waiting.splice(0)) resolve();
  }, 5);
  const url = await listen(
    createServer(async (_, response) => {
      await new Promise((resolve) => waiting.push(resolve));
      own('flushed');
      response.end();
    }),
  );
  await ask(url);
  clearInterval(interval);
}
