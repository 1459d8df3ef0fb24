// A job is handed back to be run later: that is no failure, and both runs are below its sender.
import { DelayedError, Queue, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
own ask
  producer bullmq jobs-of-delayed
    consumer bullmq jobs-of-delayed
    consumer bullmq jobs-of-delayed
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-delayed';
  const queue = new Queue(name, { connection, prefix: `{programs-${process.pid}}` });
  let completed = 0;
  const worker = new Worker(
    name,
    async (job, token) => {
      if (job.attemptsStarted > 1) return;
      await job.moveToDelayed(Date.now() + 10, token);
      throw new DelayedError();
    },
    { connection, prefix: `{programs-${process.pid}}` },
  );
  worker.on('error', () => {});
  worker.on('completed', () => completed++);
  await own('ask', () => queue.add('job', {}));
  await until(() => completed === 1);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
