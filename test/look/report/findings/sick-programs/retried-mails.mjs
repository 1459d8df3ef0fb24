// A queue of BullMQ whose jobs send a mail until the server takes it.
import { setTimeout as sleep } from 'node:timers/promises';
import { drive, library, partner } from './program.mjs';

const { Queue, Worker } = library('bullmq');
const server = await partner((number) => [5, number % 4 === 3 ? 200 : 503]);
const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null };
const name = `mails-${process.pid}`;
const queue = new Queue(name, { connection });
const worker = new Worker(
  name,
  async () => {
    for (;;) {
      if ((await fetch(`${server}/send`, { method: 'POST' })).ok) return;
      await sleep(10);
    }
  },
  { connection, concurrency: 5 },
);
drive(
  async (_, response) => {
    await queue.add('mail', {}, { removeOnComplete: true });
    response.end('queued');
  },
  ['/invite'],
  5,
  async () => {
    await worker.close();
    await queue.obliterate({ force: true });
  },
);
