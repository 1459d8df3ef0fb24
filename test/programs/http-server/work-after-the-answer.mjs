// A handler goes on after its answer: the work is below the request.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own count
    own store
  own immediate
`;

export async function run() {
  let done;
  const server = createServer((request, response) => {
    response.end();
    done = own('count', async () => {
      await sleep(5);
      own('store');
    });
    setImmediate(() => own('immediate'));
  });
  await ask(await listen(server));
  await done;
}
