// A job of `queue` begins when another has ended. Several requests add one function that is the program's: while it waits for two, it is below neither.
import { setTimeout as sleep } from 'node:timers/promises';
import Queue from 'queue';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own after 1
  own callback 1
  own job 1
own request 2
  own after 2
  own callback 2
  own job 2
own request 3
  own shared job
own request 4
own request 5
own shared job
own shared job
`;
export const difference =
  'OpenTelemetry has a job below the request whose job ended before. The request that added it is right.';

export async function run() {
  const queue = new Queue({ concurrency: 1, autostart: true });
  const shared = async () => {
    await sleep(2);
    own('shared job');
  };
  const request = (n) =>
    own(`request ${n}`, async () => {
      await new Promise((resolve) => {
        queue.push(async () => {
          own(`job ${n}`);
          await sleep(5);
          resolve();
        });
      });
      own(`after ${n}`);
      await new Promise((resolve) => {
        queue.push((done) => {
          own(`callback ${n}`);
          done();
          resolve();
        });
      });
    });
  await Promise.all([request(1), request(2)]);
  for (const n of [3, 4, 5]) own(`request ${n}`, () => queue.push(shared));
  await new Promise((resolve) => queue.addEventListener('end', resolve));
}
