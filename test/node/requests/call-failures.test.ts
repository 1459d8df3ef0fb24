import { describe, expect, it } from 'vitest';
import { failureOf, failureOfReason } from '../../../src/node/requests/call-failures.js';

const named = (name: string, more: object = {}): Error =>
  Object.assign(new Error('x'), { name, ...more });
const timeout = new DOMException('x', 'TimeoutError');

describe('the failure of a call', () => {
  it.each([
    ['a signal', named('AbortError', { cause: new Error('mine') })],
    ['axios', named('CanceledError', { code: 'ERR_CANCELED' })],
    ['got', named('CancelError', { code: 'ERR_CANCELED' })],
    ['undici', named('AbortError', { code: 'UND_ERR_ABORTED' })],
    ['a client of undici that is destroyed', named('x', { code: 'UND_ERR_DESTROYED' })],
    ['Connect', named('ConnectError', { code: 1 })],
    ['what read the body', named('Error', { code: 'ERR_STREAM_PREMATURE_CLOSE' })],
  ])('is none if %s has given it up', (_, error) => {
    expect(failureOf(error)).toBeUndefined();
    expect(failureOfReason(error)).toBeUndefined();
  });

  it.each([
    ['a timeout of a signal', named('AbortError', { cause: timeout }), 'TimeoutError'],
    ['a timeout as a reason', timeout, 'TimeoutError'],
    ['an error with a code', named('Error', { code: 'ECONNRESET' }), 'ECONNRESET'],
    [
      'a proxy that refuses',
      Object.assign(new Error('Proxy response (407) !== 200 when HTTP Tunneling'), {
        code: 'UND_ERR_ABORTED',
      }),
      'ERR_PROXY_TUNNEL',
    ],
  ])('is that of %s', (_, error, expected) => {
    expect(failureOf(error)).toBe(expected);
    expect(failureOfReason(error)).toBe(expected);
  });

  it('is the class of an error that the program has ended a call with', () => {
    expect(failureOf(new RangeError('mine'))).toBe('RangeError');
    // Of fetch it may be any reason of `abort` or `cancel`.
    for (const reason of [new RangeError('mine'), 'mine', undefined, null, 7]) {
      expect(failureOfReason(reason)).toBeUndefined();
    }
  });
});
