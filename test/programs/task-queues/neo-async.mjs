// Queues and cargos of neo-async: one worker for all callers.
import { createRequire } from 'node:module';
import { own } from '../program.mjs';

const async = createRequire(import.meta.url)('neo-async');

export const expected = `
own request 1
  own carried 1
  own done 1
  own worker 1
own request 2
  own carried 2
  own done 2
  own worker 2
own request 3
  own carried 3
  own done 3
  own worker 3
`;
export const difference =
  'OpenTelemetry has a task below the request whose task ended before. The request that added it is right.';

export async function run() {
  const queue = async.queue((n, done) => {
    setImmediate(() => {
      own(`worker ${n}`);
      done();
    });
  }, 1);
  const cargo = async.cargo((tasks, done) => setImmediate(done), 1);
  const request = (n) =>
    own(`request ${n}`, async () => {
      await new Promise((resolve) => {
        queue.push(n, () => {
          own(`done ${n}`);
          resolve();
        });
      });
      await new Promise((resolve) => {
        cargo.push(n, () => {
          own(`carried ${n}`);
          resolve();
        });
      });
    });
  await Promise.all([request(1), request(2), request(3)]);
}
