// The part of a worker fails, so the request is kept whole; a request whose part does not is released.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { context, propagation } from '@opentelemetry/api';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server GET (no route) 200
  own answered
  own part !error
`;
export const alone = 'OpenTelemetry keeps every trace.';
export const environment = { TRACEWRIGHT_KEEP: 'errors' };

if (!isMainThread) {
  parentPort.on('message', ({ headers, fails }) => {
    context.with(propagation.extract(context.active(), headers), () => {
      try {
        own('part', () => {
          if (fails) throw new Error('part');
        });
      } catch {
        // The request goes on.
      }
    });
    parentPort.postMessage('done');
  });
}

export async function run() {
  const worker = new Worker(new URL(import.meta.url));
  const url = await listen(
    createServer(async (request, response) => {
      const headers = {};
      propagation.inject(context.active(), headers);
      worker.postMessage({ headers, fails: request.headers['x-fails'] !== undefined });
      await once(worker, 'message');
      own('answered');
      response.end();
    }),
  );
  await ask(url);
  await ask(url, { headers: { 'x-fails': '1' } });
  worker.postMessage({ headers: {}, fails: false });
  await once(worker, 'message');
  await worker.terminate();
}
