// A job adds the next one of its kind: each of these begins a trace, with a link.
import { Queue, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
consumer bullmq jobs-of-adds-itself-again links:1
consumer bullmq jobs-of-adds-itself-again links:1
  producer bullmq jobs-of-adds-itself-again
own ask
  producer bullmq jobs-of-adds-itself-again
    consumer bullmq jobs-of-adds-itself-again
      producer bullmq jobs-of-adds-itself-again
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-adds-itself-again';
  const queue = new Queue(name, { connection, prefix: `{programs-${process.pid}}` });
  let completed = 0;
  const worker = new Worker(
    name,
    async (job) => {
      if (job.data.left > 0) await queue.add('job', { left: job.data.left - 1 });
    },
    { connection, prefix: `{programs-${process.pid}}` },
  );
  worker.on('error', () => {});
  worker.on('completed', () => completed++);
  await own('ask', () => queue.add('job', { left: 2 }));
  await until(() => completed === 3);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
