// A job finds that its target wants fewer requests.
import { Queue, RateLimitError, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
own ask
  producer bullmq jobs-of-rate-limited
    consumer bullmq jobs-of-rate-limited
    consumer bullmq jobs-of-rate-limited
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-rate-limited';
  const queue = new Queue(name, { connection, prefix: `{programs-${process.pid}}` });
  let completed = 0;
  const worker = new Worker(
    name,
    async (job) => {
      if (job.attemptsStarted > 1) return;
      await worker.rateLimit(10);
      throw new RateLimitError();
    },
    { connection, prefix: `{programs-${process.pid}}`, limiter: { max: 100, duration: 100 } },
  );
  worker.on('error', () => {});
  worker.on('completed', () => completed++);
  await own('ask', () => queue.add('job', {}));
  await until(() => completed === 1);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
