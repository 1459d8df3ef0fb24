// A request follows the events of an emitter by `on`: each turn of its loop is below the request.
import { EventEmitter, on } from 'node:events';
import { createServer } from 'node:http';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own event 1
  own event 2
server POST (no route) 200
server POST (no route) 200
`;

export async function run() {
  const emitter = new EventEmitter();
  let isWaiting = false;
  const url = await listen(
    createServer(async ({ method }, response) => {
      if (method === 'POST') {
        emitter.emit('n', (emitter.n = (emitter.n ?? 0) + 1));
        response.end();
        return;
      }
      isWaiting = true;
      for await (const [n] of on(emitter, 'n')) {
        own(`event ${n}`);
        if (n === 2) break;
      }
      response.end();
    }),
  );
  const follows = ask(url);
  await until(() => isWaiting);
  await ask(url, { method: 'POST' });
  await ask(url, { method: 'POST' });
  await follows;
}
