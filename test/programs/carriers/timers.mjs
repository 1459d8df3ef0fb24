// Every timer and microtask that a request begins runs below it, also after it was answered.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own immediate
  own microtask
  own next tick
  own timeout
  own timers/promises
`;

export async function run() {
  let marks = 0;
  const mark = (name) => {
    own(name);
    marks += 1;
  };
  const url = await listen(
    createServer((_, response) => {
      setTimeout(mark, 5, 'timeout');
      setImmediate(mark, 'immediate');
      process.nextTick(mark, 'next tick');
      queueMicrotask(() => mark('microtask'));
      void sleep(5).then(() => mark('timers/promises'));
      response.end();
    }),
  );
  await ask(url);
  await until(() => marks === 5);
}
