import { expect, it } from 'vitest';
import { BoundedCache } from '../../src/core/bounded-cache.js';

it('keeps what is asked for again, and no more than its size', () => {
  let computed = 0;
  const cache = new BoundedCache(8, 10, (text) => {
    computed++;
    return text.length;
  });
  for (let i = 0; i < 1000; i++) {
    expect(cache.of('often')).toBe(5);
    expect(cache.of(`once ${i}`)).toBe(`once ${i}`.length);
    expect(cache.size).toBeLessThanOrEqual(8);
  }
  expect(computed).toBe(1001);
});

it('does not keep long texts', () => {
  const cache = new BoundedCache(8, 10, (text) => text.length);
  expect(cache.of('a text that is too long')).toBe(23);
  expect(cache.size).toBe(0);
});
