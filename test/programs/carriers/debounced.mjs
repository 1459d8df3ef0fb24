// A debounced function gets the arguments of the last call, in a timer that the first one has set.
import { createRequire } from 'node:module';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own throttled 1
  own throttled of its package 1
own request 2
own request 3
  own debounced 3
  own debounced alone 3
  own debounced of its package 3
  own throttled 3
  own throttled of its package 3
`;
export const difference =
  'OpenTelemetry has what a timer calls below the request that has set it. The request whose arguments it gets is right.';

const require = createRequire(import.meta.url);

export async function run() {
  const { debounce, throttle } = require('lodash');
  const debounced = debounce((n) => own(`debounced ${n}`), 50);
  const alone = require('lodash/debounce')((n) => own(`debounced alone ${n}`), 50);
  const packaged = require('lodash.debounce')((n) => own(`debounced of its package ${n}`), 50);
  const slowed = require('lodash.throttle')((n) => own(`throttled of its package ${n}`), 50);
  const throttled = throttle((n) => own(`throttled ${n}`), 50);
  const request = (n) =>
    own(`request ${n}`, async () => {
      debounced(n);
      alone(n);
      packaged(n);
      throttled(n);
      slowed(n);
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
  await Promise.all([request(1), request(2), request(3)]);
}
