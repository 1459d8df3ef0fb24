// A processor in a process of its own: the consumer is in the worker's process, and what the processor does is another trace.
import { fileURLToPath } from 'node:url';
import { Queue, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
own ask
  producer bullmq jobs-of-a-sandbox
    consumer bullmq jobs-of-a-sandbox
own processed
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export default async function processor() {
  own('processed');
}

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-a-sandbox';
  const prefix = `{programs-${process.pid}}`;
  const queue = new Queue(name, { connection, prefix });
  let completed = 0;
  const worker = new Worker(name, fileURLToPath(import.meta.url), { connection, prefix });
  worker.on('error', () => {});
  worker.on('completed', () => completed++);
  await own('ask', () => queue.add('a', {}));
  await until(() => completed === 1);
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
