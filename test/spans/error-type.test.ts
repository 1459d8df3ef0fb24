import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failureOf as failureOfLibrary } from '../../src/libraries/engine/failure.js';
import { failureOf } from '../../src/node/requests/call-failures.js';
import { errorTypeOf } from '../../src/spans/exception.js';

class OrderError extends Error {}

test.each([
  [Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  [Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' }), 'ERR_INVALID_ARG_TYPE'],
  [new TypeError('x'), 'TypeError'],
  [new OrderError('x'), 'OrderError'],
  [Object.assign(new OrderError('x'), { name: 'secret' }), 'OrderError'],
  [Object.assign(new Error('x'), { code: 'card 4711', name: 'Secret' }), 'Error'],
  [AbortSignal.timeout(0).reason ?? new DOMException('x', 'TimeoutError'), 'TimeoutError'],
  [new DOMException('x', 'secret'), 'DOMException'],
  [{ name: 'Secret' }, undefined],
  ['secret', undefined],
  [undefined, undefined],
])('the type of %s is %s', (error, expected) => {
  expect(errorTypeOf(error)).toBe(expected);
});

test('the name of an error that a program has set is not recorded', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (name, code) => {
      fc.pre(!/^(?:[A-Z][A-Z\d_]{1,63}|closed)$/.test(code) && name !== 'AbortError');
      const error = Object.assign(new OrderError('x'), { name, code });
      expect(failureOf(error)).toBe('OrderError');
      expect(failureOfLibrary(error).type).toBe('OrderError');
    }),
  );
});

test('hostile errors break nothing', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(failureOf(proxy)).toBe('_OTHER');
  expect(failureOfLibrary(Object.create(null)).type).toBe('_OTHER');
});
