// Operators that wait run below the request that has subscribed: timer, delay, mergeMap, retry.
import { createServer } from 'node:http';
import { defer, delay, lastValueFrom, mergeMap, retry, timer } from 'rxjs';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own attempt !error
  own attempt 2
  own last
`;

export async function run() {
  const url = await listen(
    createServer(async (_, response) => {
      let attempts = 0;
      const attempt = defer(() => {
        attempts += 1;
        if (attempts === 2) return own('attempt 2', async () => 'done');
        return own('attempt', async () => {
          throw new Error('once');
        });
      });
      await lastValueFrom(
        timer(2).pipe(
          mergeMap(() => attempt),
          retry({ count: 1, delay: 2 }),
          delay(2),
        ),
      );
      own('last');
      response.end();
    }),
  );
  await ask(url);
}
