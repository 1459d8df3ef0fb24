// A worker with arguments and an environment of its own.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { context, propagation } from '@opentelemetry/api';
import { own } from '../program.mjs';

export const expected = `
own request
  own work
`;
export const alone = 'OpenTelemetry has no tracer in what a program starts without its options.';

export async function run() {
  await own('request', async () => {
    const headers = {};
    propagation.inject(context.active(), headers);
    const worker = new Worker(new URL('in-another.mjs', import.meta.url), {
      execArgv: [],
      env: { PURPOSE: 'work' },
    });
    worker.postMessage(headers);
    await once(worker, 'exit');
  });
}
