// Listeners that were added at the start run below the request that emits, and `once` of a request below that.
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own after once
server POST (no route) 200
  own listener
`;

export async function run() {
  const emitter = new EventEmitter();
  let isWaiting = false;
  emitter.on('paid', () => own('listener'));
  const url = await listen(
    createServer(async ({ method }, response) => {
      if (method === 'POST') emitter.emit('paid');
      else {
        const paid = once(emitter, 'paid');
        isWaiting = true;
        await paid;
        own('after once');
      }
      response.end();
    }),
  );
  const waits = ask(url);
  await until(() => isWaiting);
  await ask(url, { method: 'POST' });
  await waits;
}
