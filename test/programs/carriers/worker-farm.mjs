// Two requests share a process of worker-farm, which the first has started.
import { fileURLToPath } from 'node:url';
import farm from 'worker-farm';
import { own } from '../program.mjs';

export const expected = `
own request 1
  client node
  own called 1
own request 2
  own called 2
`;
export const difference =
  'OpenTelemetry has callbacks below the request that started the process. The request that asked is right.';

const CHILD = fileURLToPath(new URL('worker-farm-child.cjs', import.meta.url));

export async function run() {
  let workers;
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          workers ??= farm({ maxConcurrentWorkers: 1 }, CHILD);
          workers(n, () => {
            own(`called ${n}`);
            resolve();
          });
        }),
    );
  await Promise.all([request(1), request(2)]);
  farm.end(workers);
}
