// A worker or child of the programs next to it: one span, below the sender of its message.
import { parentPort } from 'node:worker_threads';
import { context, propagation } from '@opentelemetry/api';
import { own } from '../program.mjs';

const port = parentPort ?? process;

port.once('message', (headers) => {
  context.with(propagation.extract(context.active(), headers), () => own('work'));
  if (parentPort === null) setImmediate(() => process.exit());
});
