// A function that waits for a lock of rwlock or mutexify begins where that is released.
import mutexify from 'mutexify';
import ReadWriteLock from 'rwlock';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own alone 1
  own reads 1
  own writes 1
own request 2
  own alone 2
  own reads 2
  own writes 2
`;
export const difference =
  'OpenTelemetry has what waits below the request that had the lock before. The request that waits for it is right.';

export async function run() {
  const lock = new ReadWriteLock();
  const mutex = mutexify();
  const step = (what, take) =>
    new Promise((resolve) => {
      take((release) => {
        own(what);
        setTimeout(() => {
          release();
          resolve();
        }, 5);
      });
    });
  const request = (n) =>
    own(`request ${n}`, () =>
      Promise.all([
        step(`writes ${n}`, lock.writeLock),
        step(`reads ${n}`, lock.readLock),
        step(`alone ${n}`, mutex),
      ]),
    );
  await Promise.all([request(1), request(2)]);
}
