// A queue of vasync: a worker takes a task when it has done another.
import vasync from 'vasync';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own called 1
  own task 1
own request 2
  own called 2
  own task 2
`;
export const difference =
  'OpenTelemetry has a task below the request whose task ended before. The request that added it is right.';

export async function run() {
  const queue = vasync.queue((n, done) => {
    own(`task ${n}`);
    setTimeout(done, 5);
  }, 1);
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          queue.push(n, () => {
            own(`called ${n}`);
            resolve();
          });
        }),
    );
  await Promise.all([request(1), request(2)]);
}
