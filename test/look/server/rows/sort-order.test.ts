import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortOrder } from '../../../../src/look/server/rows/sorted-rows.js';

describe('sortOrder', () => {
  it('orders any numbers that are not negative, and keeps the order of equal ones', async () => {
    const keys = fc.array(
      fc.oneof(
        fc.double({ min: 0, noNaN: true }),
        fc.nat(5),
        fc.double({ min: 0, max: 2e-300, noNaN: true }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(keys, async (list) => {
        // -0 has a bit of its own, and is none of the keys.
        const column = Float64Array.from(list, (key) => key + 0);
        const wanted = [...column.keys()].sort((a, b) => column[a]! - column[b]! || a - b);
        expect([...(await sortOrder(column))]).toEqual(wanted);
      }),
    );
  });
});
