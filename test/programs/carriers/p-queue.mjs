// Two requests share a queue of one task at a time: each task is below the request that has given it.
import { createServer } from 'node:http';
import PQueue from 'p-queue';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own task of GET
server POST (no route) 200
  own task of POST
`;

export async function run() {
  const queue = new PQueue({ concurrency: 1 });
  let finish;
  let given = 0;
  const gate = new Promise((resolve) => (finish = resolve));
  const url = await listen(
    createServer(async ({ method }, response) => {
      const task = queue.add(() => own(`task of ${method}`, () => gate));
      given += 1;
      await task;
      response.end();
    }),
  );
  const first = ask(url);
  await until(() => given === 1);
  const second = ask(url, { method: 'POST' });
  await until(() => given === 2);
  finish();
  await Promise.all([first, second]);
}
