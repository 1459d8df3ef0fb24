// A pool of threads.js with one worker: tasks and what they observe are below the request that queued them.
import { Pool, spawn, Worker } from 'threads';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own after 1
  own observed 1
  own task 1
own request 2
  own after 2
  own observed 2
  own task 2
`;
export const difference =
  'OpenTelemetry has the second task below the request whose task ended before. The request that queued it is right.';

export async function run() {
  let pool;
  const request = (n) =>
    own(`request ${n}`, async () => {
      pool ??= Pool(() => spawn(new Worker('./threads-worker.mjs')), 1);
      await pool.queue(async (worker) => {
        own(`task ${n}`);
        await worker.add(n, 1);
      });
      own(`after ${n}`);
      await pool.queue(
        (worker) =>
          new Promise((resolve, reject) => {
            worker.count().subscribe(() => own(`observed ${n}`), reject, resolve);
          }),
      );
    });
  await Promise.all([request(1), request(2)]);
  await pool.terminate();
}
