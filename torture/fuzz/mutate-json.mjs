// JSON that is still JSON, and says something else.

import { mutate } from './mutate.mjs';

const VALUES = [
  null,
  true,
  -1,
  0,
  0.5,
  2 ** 31,
  1e308,
  '',
  '../../../outside',
  'x'.repeat(5000),
  [],
  [null],
  {},
  { index: -1 },
  [[[[[[[[]]]]]]]],
];
const KEYS = ['__proto__', 'constructor', '', '100', '-1', 'ovni', 'mark', 'toString', '../x'];

/** All places in a value: the object or array, and the key. */
function* placesOf(value) {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    yield [value, key];
    yield* placesOf(value[key]);
  }
}

/** @type {typeof mutate} */
export function mutateJson(good, random) {
  if (random.chance(0.3)) return mutate(good, random);
  const json = JSON.parse(random.pick(good).toString());
  for (let i = random.integer(1, 3); i > 0; i--) {
    const places = [...placesOf(json)];
    if (places.length === 0) break;
    const [holder, key] = random.pick(places);
    const value = holder[key];
    if (random.chance(0.5)) {
      // A copy: later inputs are changed in it.
      holder[key] = JSON.parse(JSON.stringify(random.pick(VALUES)));
    } else {
      delete holder[key];
      if (random.chance(0.5)) {
        const renamed = { value, enumerable: true, configurable: true, writable: true };
        Object.defineProperty(holder, random.pick(KEYS), renamed);
      }
    }
  }
  return Buffer.from(JSON.stringify(json));
}
