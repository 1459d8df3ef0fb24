// github.com/taskforcesh/bullmq/issues/4731: a worker that a request has started is not below it for ever.
import { Queue, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
own another request
  producer bullmq jobs-of-a-late-worker
    consumer bullmq jobs-of-a-late-worker
      own job
own later
own request
  own started
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-a-late-worker';
  const prefix = `{programs-${process.pid}}`;
  const queue = new Queue(name, { connection, prefix });
  let drained = 0;
  const worker = await own('request', async () => {
    const started = new Worker(name, () => own('job'), { connection, prefix, drainDelay: 1 });
    started.on('error', () => {});
    started.on('drained', () => {
      if ((drained += 1) === 1) own('later');
    });
    await started.waitUntilReady();
    own('started');
    return started;
  });
  await own('another request', () => queue.add('a', {}));
  await until(() => drained > 0);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
