// Tasks one by one with callbacks, and two tasks in one batch.
import Queue from 'better-queue';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own batch of 2 links:2
  own batched 1
  own done 1
  own task 1
own request 2
  own batched 2
  own done 2
  own task 2
`;
export const difference =
  'OpenTelemetry has tasks and callbacks below the request whose task ended before. The request that added them is right.';

export async function run() {
  const single = new Queue((n, done) => {
    setTimeout(() => {
      own(`task ${n}`);
      done();
    }, 5);
  });
  const batches = new Queue(
    (tasks, done) => {
      own(`batch of ${tasks.length}`);
      done();
    },
    { batchSize: 2, batchDelay: 1000 },
  );
  const request = (n) =>
    own(`request ${n}`, async () => {
      await new Promise((resolve) => {
        single.push(n, () => {
          own(`done ${n}`);
          resolve();
        });
      });
      await new Promise((resolve) => {
        batches.push(n).on('finish', () => {
          own(`batched ${n}`);
          resolve();
        });
      });
    });
  await Promise.all([request(1), request(2)]);
}
