// The program's own storage sees with the hook what bluebird gives it without the hook.
import { AsyncLocalStorage } from 'node:async_hooks';
import Promise from 'bluebird';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own then of 1: 1
own request 2
  own then of 2: 1
`;
export const difference =
  'OpenTelemetry has both callbacks below the first request. In either, the storage of the program has the first one.';

export async function run() {
  const storage = new AsyncLocalStorage();
  const settled = [];
  const request = (n) =>
    own(`request ${n}`, () =>
      storage.run(n, () =>
        new Promise((resolve) => settled.push(() => storage.run(n, resolve))).then(() =>
          own(`then of ${n}: ${storage.getStore()}`),
        ),
      ),
    );
  const requests = [request(1), request(2)];
  for (const settle of settled) settle();
  await requests[0];
  await requests[1];
}
