// A process of a cluster with arguments of its own.
import { once } from 'node:events';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { context, propagation } from '@opentelemetry/api';
import { own } from '../program.mjs';

// On Node 20 the message of the primary is lost, without the hook too.
export const nodes = 22;
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
    const exec = fileURLToPath(new URL('in-another.mjs', import.meta.url));
    cluster.setupPrimary({ exec, execArgv: ['--no-warnings'] });
    const { process: child } = cluster.fork();
    child.send(headers);
    await once(child, 'exit');
  });
}
