import { expect, test } from 'vitest';
import { hostAndPort } from '../../../src/node/requests/conventions.js';

test('the parts of an authority are the same when it comes again, also after many others', () => {
  for (let round = 0; round < 2; round++) {
    expect(hostAndPort('[::1]:8080')).toEqual({ host: '::1', port: 8080 });
    expect(hostAndPort('api.example')).toEqual({ host: 'api.example' });
    for (const wrong of [
      '',
      'a b',
      'h;name=value',
      'h=\u00e4',
      'h"',
      'user@host',
      'host:123456',
      'h'.repeat(257),
      undefined,
    ]) {
      expect(hostAndPort(wrong)).toBeUndefined();
    }
    for (let i = 0; i < 200; i++) {
      expect(hostAndPort(`host-${i}:80`)).toEqual({ host: `host-${i}`, port: 80 });
    }
  }
});
