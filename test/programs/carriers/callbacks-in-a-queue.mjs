// A queue of plain functions forgets who asked: the program's worker runs them below nobody. A bound one does not.
import { AsyncResource } from 'node:async_hooks';
import { createServer } from 'node:http';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
own plain task
server GET (no route) 200
  own bound task
`;

export async function run() {
  const queue = [];
  let done = 0;
  const worker = setInterval(() => {
    for (const task of queue.splice(0)) {
      task();
      done += 1;
    }
  }, 5);
  const url = await listen(
    createServer((_, response) => {
      queue.push(() => own('plain task'));
      queue.push(AsyncResource.bind(() => own('bound task')));
      response.end();
    }),
  );
  await ask(url);
  await until(() => done === 2);
  clearInterval(worker);
}
