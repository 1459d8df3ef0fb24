// A job fails, and is tried again: one run has failed.
import { Queue, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
own ask
  producer bullmq jobs-of-retried
    consumer bullmq jobs-of-retried
    consumer bullmq jobs-of-retried !TypeError
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-retried';
  const queue = new Queue(name, { connection, prefix: `{programs-${process.pid}}` });
  let completed = 0;
  const worker = new Worker(
    name,
    async (job) => {
      if (job.attemptsStarted === 1) throw new TypeError('a bug');
    },
    { connection, prefix: `{programs-${process.pid}}` },
  );
  worker.on('error', () => {});
  worker.on('completed', () => completed++);
  await own('ask', () => queue.add('job', {}, { attempts: 2 }));
  await until(() => completed === 1);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
