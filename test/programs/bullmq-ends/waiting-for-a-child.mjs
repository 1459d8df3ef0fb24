// A job waits for one that it has added: both runs are below its sender, and the child below the first.
import { Queue, WaitingChildrenError, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
own ask
  producer bullmq jobs-of-waiting-for-a-child
    consumer bullmq jobs-of-waiting-for-a-child
    consumer bullmq jobs-of-waiting-for-a-child
      producer bullmq jobs-of-waiting-for-a-child
        consumer bullmq jobs-of-waiting-for-a-child
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-waiting-for-a-child';
  const queue = new Queue(name, { connection, prefix: `{programs-${process.pid}}` });
  let completed = 0;
  const worker = new Worker(
    name,
    async (job, token) => {
      if (job.name === 'child' || job.attemptsStarted > 1) return;
      const parent = { id: job.id, queue: job.queueQualifiedName };
      await queue.add('child', {}, { parent });
      if (await job.moveToWaitingChildren(token)) throw new WaitingChildrenError();
    },
    { connection, prefix: `{programs-${process.pid}}` },
  );
  worker.on('error', () => {});
  worker.on('completed', () => completed++);
  await own('ask', () => queue.add('job', {}));
  await until(() => completed === 2);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
