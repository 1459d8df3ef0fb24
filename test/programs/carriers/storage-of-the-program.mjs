// The program's own AsyncLocalStorage has what it has without a tracer, around and within requests.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own after exit undefined
  own after the wait 7
  own at first undefined
  own entered 8
`;

export async function run() {
  const storage = new AsyncLocalStorage();
  const url = await listen(
    createServer(async (_, response) => {
      own(`at first ${storage.getStore()}`);
      await storage.run(7, async () => {
        await sleep(1);
        own(`after the wait ${storage.getStore()}`);
        storage.exit(() => own(`after exit ${storage.getStore()}`));
      });
      storage.enterWith(8);
      await null;
      own(`entered ${storage.getStore()}`);
      response.end();
    }),
  );
  await ask(url);
}
