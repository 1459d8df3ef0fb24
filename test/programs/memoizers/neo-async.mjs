// The second caller waits for what the first loads.
import async from 'neo-async';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own after 1
  own load
own request 2
  own after 2
`;
export const difference =
  'OpenTelemetry has both callbacks below the first request. Each is its caller’s.';

export async function run() {
  const fetch = (key, done) => {
    own('load');
    setTimeout(done, 5, null, 'value');
  };
  const load = async.memoize(fetch);
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
