// A flow: the parent runs after its children, and all are below who added the flow.
import { FlowProducer, Queue, Worker } from 'bullmq';
import { own, until } from '../program.mjs';

export const expected = `
own ask
  producer bullmq jobs-of-flow
    consumer bullmq jobs-of-flow
    consumer bullmq jobs-of-flow
    consumer bullmq jobs-of-flow
`;
export const alone =
  'OpenTelemetry has no instrumentation of BullMQ: its own telemetry has to be passed to each queue.';
export const needs = ['redis'];
export const environment = { TRACEWRIGHT_LIBRARIES: 'bullmq' };

export async function run() {
  const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
  const name = 'jobs-of-flow';
  const queue = new Queue(name, { connection, prefix: `{programs-${process.pid}}` });
  let completed = 0;
  const worker = new Worker(name, async () => {}, {
    connection,
    prefix: `{programs-${process.pid}}`,
  });
  worker.on('error', () => {});
  worker.on('completed', () => completed++);
  const flows = new FlowProducer({ connection, prefix: `{programs-${process.pid}}` });
  const children = ['first', 'second'].map((each) => ({ name: each, queueName: name }));
  await own('ask', () => flows.add({ name: 'parent', queueName: name, children }));
  await until(() => completed === 3);
  await flows.close();
  await worker.close();
  await queue.obliterate({ force: true });
  await queue.close();
}
