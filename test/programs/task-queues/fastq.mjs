// Queues of fastq: one worker for all callers.
import fastq from 'fastq';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own done 1
  own promised 1
  own worker 1
own request 2
  own done 2
  own promised 2
  own worker 2
own request 3
  own done 3
  own promised 3
  own worker 3
`;
export const difference =
  'OpenTelemetry has a task below the request whose task ended before. The request that added it is right.';

export async function run() {
  const queue = fastq((n, done) => {
    setImmediate(() => {
      own(`worker ${n}`);
      done(null);
    });
  }, 1);
  const promised = fastq.promise(async (n) => {
    await Promise.resolve();
    own(`promised ${n}`);
  }, 1);
  const request = (n) =>
    own(`request ${n}`, async () => {
      await new Promise((resolve) => {
        const done = () => {
          own(`done ${n}`);
          resolve();
        };
        if (n === 3) queue.unshift(n, done);
        else queue.push(n, done);
      });
      await promised.push(n);
    });
  await Promise.all([request(1), request(2), request(3)]);
}
