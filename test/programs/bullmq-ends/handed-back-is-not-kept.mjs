// With TRACEWRIGHT_KEEP=errors, a job that is handed back is no reason to keep its trace.
import { DelayedError, Queue, Worker } from 'bullmq';
import { until } from '../program.mjs';

export const expected = `

`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq', TRACEWRIGHT_KEEP: 'errors' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-handed-back-is-not-kept';
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
  await queue.add('job', {});
  await until(() => completed === 1);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
