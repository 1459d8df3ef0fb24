// A queue of BullMQ, with its own instrumentation, and a worker.

import { trace } from '@opentelemetry/api';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';

const connection = { host: '127.0.0.1', port: 6379 };
const name = `tracewright-test-${process.pid}`;
const telemetry = new BullMQOtel('queue', '1.0.0');
const queue = new Queue(name, { connection, telemetry });
const events = new QueueEvents(name, { connection });
await events.waitUntilReady();
const tracer = trace.getTracer('the-service');
const worker = new Worker(
  name,
  async () => {
    tracer.startSpan('work').end();
    return 'done';
  },
  { connection, telemetry },
);
await worker.waitUntilReady();
await tracer.startActiveSpan('order', async (span) => {
  const job = await queue.add('mail', { to: 'someone' });
  console.log(await job.waitUntilFinished(events));
  span.end();
});
await worker.close();
await events.close();
await queue.obliterate({ force: true });
await queue.close();
