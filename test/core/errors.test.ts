import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { outOfRange, TracewrightError, wrongOrder, wrongType } from '../../src/core/errors.js';

class Point {
  readonly x = 0;
}

test.each([
  [{}, 'an object'],
  [Object.create(null), 'an object'],
  [{ constructor: { name: 7 } }, 'an object'],
  [new Point(), 'an object of class Point'],
  [new Uint8Array(2), 'an object of class Uint8Array'],
  [[1, 2, 3], 'an array of length 3'],
  [() => 0, 'a function'],
  [7n, '7n'],
  [undefined, 'undefined'],
  ['x'.repeat(70), `"${'x'.repeat(60)}…"`],
])('what was given, in words: %o', (value, words) => {
  expect(wrongType('payload', value, 'a number').message).toBe(
    `payload must be a number, got ${words}`,
  );
});

test('an error has the fields that apply, and prints no others', () => {
  const order = wrongOrder('threadFree', 'threadInit must be called first');
  expect(Object.keys(order)).toEqual(['name', 'code', 'field']);
  expect(inspect(order)).not.toContain('undefined');
  expect(outOfRange('tid', 0, 'above 0')).toMatchObject({
    code: 'ERR_ARGUMENT_RANGE',
    field: 'tid',
    value: 0,
    limit: 'above 0',
  });
  // Nothing at all was given, which is what is wrong.
  expect(Object.hasOwn(wrongType('tid', undefined, 'a number'), 'value')).toBe(true);
  expect(new TracewrightError('ERR_CLOSED', 'closed', { cause: order }).cause).toBe(order);
});
