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
  'x'.repeat(500),
  [],
  [null],
  {},
  { index: -1 },
  [[[[[[[[]]]]]]]],
].map((value) => JSON.stringify(value));
const KEYS = ['__proto__', 'constructor', '', '100', '-1', 'ovni', 'mark', 'toString', '../x'];

/** A place in a value, by a walk from the top that may end at each step. */
function placeIn(value, random) {
  let holder;
  let key;
  let next = value;
  while (typeof next === 'object' && next !== null) {
    const keys = Object.keys(next);
    if (keys.length === 0) break;
    holder = next;
    key = random.pick(keys);
    next = holder[key];
    if (random.chance(0.25)) break;
  }
  return holder === undefined ? undefined : { holder, key };
}

/** @type {typeof mutate} */
export function mutateJson(good, random) {
  if (random.chance(0.3)) return mutate(good, random);
  const json = JSON.parse(random.pick(good).toString());
  for (let i = random.integer(1, 3); i > 0; i--) {
    const place = placeIn(json, random);
    if (place === undefined) break;
    const { holder, key } = place;
    const value = holder[key];
    if (random.chance(0.5)) {
      holder[key] = JSON.parse(random.pick(VALUES));
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
