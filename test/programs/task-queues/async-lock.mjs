// A lock of async-lock: what waits for it runs where it is released.
import AsyncLock from 'async-lock';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own locked 1
own request 2
  own locked 2
own request 3
  own locked 3
`;
export const difference =
  'OpenTelemetry has what waits below the request that had the lock before. The request that waits for it is right.';

export async function run() {
  const lock = new AsyncLock();
  const request = (n) =>
    own(`request ${n}`, () =>
      lock.acquire('key', async () => {
        await Promise.resolve();
        own(`locked ${n}`);
      }),
    );
  await Promise.all([request(1), request(2), request(3)]);
}
