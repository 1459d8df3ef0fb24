// Runs a service under load in a worker thread. Its arguments are the program and the program's own.

import { Worker } from 'node:worker_threads';

const [, , program, ...args] = process.argv;
const worker = new Worker(program, { argv: args });
worker.on('message', (message) => process.send?.(message));
process.on('message', (message) => {
  worker.postMessage(message);
  if (message === 'end') process.disconnect();
});
