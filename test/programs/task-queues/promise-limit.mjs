// A function that waits begins when another has ended.
import { setTimeout as sleep } from 'node:timers/promises';
import promiseLimit from 'promise-limit';
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
  const add = promiseLimit(1);
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
