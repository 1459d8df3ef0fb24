// A request starts the worker: neither its loop nor its jobs are below that request.
import Queue from 'bee-queue';
import { own, until } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own job 1
own job 2
own request 1
  client redis EVALSHA
  own added 1
own request 2
  client redis EVALSHA
  own added 2
`;
export const difference =
  'OpenTelemetry has the loop of the worker, and all of its jobs, below the request that started it.';

export async function run() {
  const queue = new Queue(`jobs-of-${process.pid}`);
  await queue.ready();
  let done = 0;
  const request = (n) =>
    own(`request ${n}`, async () => {
      if (n === 1) {
        queue.process(async ({ data }) => {
          own(`job ${data}`);
          done += 1;
        });
      }
      await queue.createJob(n).save();
      own(`added ${n}`);
    });
  await request(1);
  await request(2);
  await until(() => done === 2);
  await queue.destroy();
  await queue.close();
}
