// A job adds one of another kind: that is below it.
import { Queue, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
own ask
  producer bullmq jobs-of-adds-another
    consumer bullmq jobs-of-adds-another
      producer bullmq jobs-of-adds-another
        consumer bullmq jobs-of-adds-another
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-adds-another';
  const queue = new Queue(name, { connection, prefix: `{programs-${process.pid}}` });
  let completed = 0;
  const worker = new Worker(
    name,
    async (job) => {
      if (job.name === 'order') await queue.add('mail', {});
    },
    { connection, prefix: `{programs-${process.pid}}` },
  );
  worker.on('error', () => {});
  worker.on('completed', () => completed++);
  await own('ask', () => queue.add('order', {}));
  await until(() => completed === 2);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
