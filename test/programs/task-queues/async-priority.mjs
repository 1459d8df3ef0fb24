// Queues with priorities of async and of neo-async, one after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import async from 'async';
import neoAsync from 'neo-async';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own after 1
  own task 1
  own task 1
own request 2
  own after 2
  own task 2
  own task 2
`;
export const difference =
  'OpenTelemetry has a task below the request whose task ended before. The request that added it is right.';

export async function run() {
  const queues = [async, neoAsync].map(({ priorityQueue }) =>
    priorityQueue((fn, done) => {
      fn().then(() => done());
    }, 1),
  );
  const add = async (fn) => {
    for (const queue of queues)
      await new Promise((resolve) => {
        queue.push(fn, 1, resolve);
      });
  };
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
