// github.com/DataDog/dd-trace-js/issues/1704: jobs of Bull, which is started by the first request that needs it.
import Queue from 'bull';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own job 1
own job 2
own request 1
own request 2
`;
export const environment = { TRACEWRIGHT_LIBRARIES: 'pg' };
export const difference =
  'OpenTelemetry has all jobs below the request that started the queue, for ever.';

export async function run() {
  const name = `programs-${process.pid}`;
  let queue;
  const done = [];
  const ended = new Promise((resolve) => {
    done.push(resolve);
  });
  const add = (n) =>
    own(`request ${n}`, async () => {
      if (queue === undefined) {
        queue = new Queue(name);
        queue.process(async ({ data }) => {
          own(`job ${data.n}`);
          if (data.n === 2) done[0]();
        });
        await queue.isReady();
      }
      await queue.add({ n });
    });
  await add(1);
  await add(2);
  await ended;
  await queue.obliterate({ force: true });
  await queue.close();
}
