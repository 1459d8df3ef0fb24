import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnusedNumbers } from '../../src/core/unused-numbers.js';

describe('unused numbers', () => {
  it('are the wanted one, or the lowest above it that was not used', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 30 }), { maxLength: 60 }), (wanted) => {
        const numbers = new UnusedNumbers();
        const used = new Set<number>();
        for (const each of wanted) {
          let lowest = each;
          while (used.has(lowest)) lowest += 1;
          expect(numbers.take(each)).toBe(lowest);
          used.add(lowest);
        }
      }),
    );
  });

  it('are found among a million that all wanted the same', () => {
    const numbers = new UnusedNumbers();
    for (let i = 1; i <= 1_000_000; i++) {
      const found = numbers.take(1);
      if (found !== i) throw new Error(`number ${found}, not ${i}`);
    }
  });
});
