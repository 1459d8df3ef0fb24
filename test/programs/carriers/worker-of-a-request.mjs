// A worker and a child that the program keeps, which the first request starts: what they answer later is below nobody.
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ask, listen, own } from '../program.mjs';

export const expected = `
own child answers 2
own worker answers 2
server GET (no route) 200
server GET (no route) 200
  client node
  own child answers 1
  own worker answers 1
`;
export const difference =
  'OpenTelemetry has all answers below the request that started the worker, for ever.';

const answering = fileURLToPath(new URL('answering-worker.mjs', import.meta.url));

export async function run() {
  let worker;
  let child;
  const waiting = new Map();
  const heard = (who) => (number) => {
    own(`${who} answers ${number}`);
    waiting.get(who)();
  };
  let number = 0;
  const url = await listen(
    createServer(async (request, response) => {
      number += 1;
      worker ??= new Worker(answering).on('message', heard('worker'));
      child ??= fork(answering).on('message', heard('child'));
      const answer = (who) => new Promise((resolve) => waiting.set(who, resolve));
      const both = Promise.all([answer('worker'), answer('child')]);
      worker.postMessage(number);
      child.send(number);
      await both;
      response.end();
    }),
  );
  await ask(url);
  await ask(url);
  child.disconnect();
  await worker.terminate();
}
