// A function that waits for a permit begins where that is given back.
import { setTimeout as sleep } from 'node:timers/promises';
import createSemaphore from 'semaphore';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own after 1
  own task 1
own request 2
  own after 2
  own task 2
`;
export const difference =
  'OpenTelemetry has a task below the request whose task ended before. The request that added it is right.';

export async function run() {
  const semaphore = createSemaphore(1);
  const add = (fn) =>
    new Promise((resolve) => {
      semaphore.take(async () => {
        await fn();
        semaphore.leave();
        resolve();
      });
    });
  const request = (n) =>
    own(`request ${n}`, async () => {
      await add(async () => {
        own(`task ${n}`);
        await sleep(5);
      });
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2)]);
}
