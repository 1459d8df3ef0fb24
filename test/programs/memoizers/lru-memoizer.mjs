// github.com/open-telemetry/opentelemetry-js-contrib/pull/1056: the second caller waits for what the first loads.
import { setTimeout as sleep } from 'node:timers/promises';
import memoizer from 'lru-memoizer';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own after 1
  own load
own request 2
  own after 2
`;
export const difference =
  'OpenTelemetry needs an instrumentation of its own for it, else both callbacks are below the first request.';

export async function run() {
  const load = memoizer({
    max: 10,
    hash: (key) => key,
    load: async (_, done) => {
      own('load');
      await sleep(5);
      done(null, 'value');
    },
  });
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          load('key', () => {
            own(`after ${n}`);
            resolve();
          });
        }),
    );
  await Promise.all([request(1), request(2)]);
}
