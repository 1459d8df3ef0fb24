// A child process with an environment of its own.
import { once } from 'node:events';
import { fork } from 'node:child_process';
import { context, propagation } from '@opentelemetry/api';
import { own } from '../program.mjs';

export const expected = `
own request
  client node
  own work
`;
export const alone = 'OpenTelemetry has no tracer in what a program starts without its options.';

export async function run() {
  await own('request', async () => {
    const headers = {};
    propagation.inject(context.active(), headers);
    const child = fork(new URL('in-another.mjs', import.meta.url), [], {
      env: { PURPOSE: 'work' },
    });
    child.send(headers);
    await once(child, 'exit');
  });
}
