// AsyncLocalStorage.snapshot and bind keep the request that made them, also when another request calls.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own by bind
  own by snapshot
server POST (no route) 200
  own by itself
`;

export async function run() {
  let restore;
  let bound;
  const url = await listen(
    createServer(({ method }, response) => {
      if (method === 'GET') {
        restore = AsyncLocalStorage.snapshot();
        bound = AsyncLocalStorage.bind(() => own('by bind'));
      } else {
        restore(() => own('by snapshot'));
        bound();
        own('by itself');
      }
      response.end();
    }),
  );
  await ask(url);
  await ask(url, { method: 'POST' });
}
