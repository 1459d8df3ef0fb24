// Queues of async: one worker for all callers.
import { priorityQueue, queue } from 'async';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own done 1
  own first 1
  own worker 1
own request 2
  own done 2
  own first 2
  own worker 2
own request 3
  own done 3
  own first 3
  own worker 3
`;
export const difference =
  'OpenTelemetry has a task below the request whose task ended before. The request that added it is right.';

export async function run() {
  const plain = queue((n, done) => {
    setImmediate(() => {
      own(`worker ${n}`);
      done();
    });
  }, 1);
  const byRank = priorityQueue(async (n) => {
    await Promise.resolve();
    own(`first ${n}`);
  }, 1);
  const request = (n) =>
    own(`request ${n}`, async () => {
      await new Promise((resolve) => {
        plain.push(n, () => {
          own(`done ${n}`);
          resolve();
        });
      });
      await byRank.pushAsync(n, 1);
    });
  await Promise.all([request(1), request(2), request(3)]);
}
