// A request waits for its job by the events of the queue: what follows is below the request, not below the job.
import { createServer } from 'node:http';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own after 4
  producer bullmq jobs-waited-for
    consumer bullmq jobs-waited-for
      own work
server POST (no route) 502 !502
  own after no
  producer bullmq jobs-waited-for
    consumer bullmq jobs-waited-for !Error
      own work
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const options = { connection, prefix: `{programs-${process.pid}}` };
  const name = 'jobs-waited-for';
  const queue = new Queue(name, options);
  const events = new QueueEvents(name, options);
  await events.waitUntilReady();
  const worker = new Worker(
    name,
    async ({ data }) => {
      own('work');
      if (data.fails) throw new Error('no');
      return 4;
    },
    options,
  );
  worker.on('error', () => {});
  const url = await listen(
    createServer(async ({ method }, response) => {
      const job = await queue.add('each', { fails: method === 'POST' });
      try {
        own(`after ${await job.waitUntilFinished(events, 10_000)}`);
      } catch (error) {
        own(`after ${error.message}`);
        response.statusCode = 502;
      }
      response.end();
    }),
  );
  await ask(url);
  await ask(url, { method: 'POST' });
  await worker.close();
  await events.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
