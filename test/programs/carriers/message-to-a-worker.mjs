// Ids go to a worker thread in a message, by OpenTelemetry's API: the worker's part is below the request.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { context, propagation } from '@opentelemetry/api';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own answered
  own part
`;
export const alone = "OpenTelemetry's SDK has to be started in each worker by the program.";

if (!isMainThread) {
  parentPort.on('message', (headers) => {
    context.with(propagation.extract(context.active(), headers), () => own('part'));
    parentPort.postMessage('done');
  });
}

export async function run() {
  const worker = new Worker(new URL(import.meta.url));
  const url = await listen(
    createServer(async (_, response) => {
      const headers = {};
      propagation.inject(context.active(), headers);
      worker.postMessage(headers);
      await once(worker, 'message');
      own('answered');
      response.end();
    }),
  );
  await ask(url);
  await worker.terminate();
}
