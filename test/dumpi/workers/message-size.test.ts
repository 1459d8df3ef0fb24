import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageSize } from '../../../src/dumpi/workers/message-size.js';

describe('the size of a message', () => {
  it('is the same for its structured clone', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withTypedArray: true,
          withSparseArray: true,
          withObjectString: false,
        }),
        (message) => {
          let clone: unknown;
          try {
            clone = structuredClone(message);
          } catch {
            // A symbol, say: it cannot be sent.
            return;
          }
          expect(messageSize(clone)).toBe(messageSize(message));
        },
      ),
    );
  });

  it('counts what there is', () => {
    expect(messageSize('abc')).toBe(3);
    expect(messageSize(7)).toBe(8);
    expect(messageSize(2n ** 64n)).toBe(16);
    expect(messageSize(new Float64Array(10))).toBe(88);
    expect(messageSize([1, 2, 3])).toBe(32);
    const circle: Record<string, unknown> = { a: 1 };
    circle['self'] = circle;
    expect(messageSize(circle)).toBe(8 + 1 + 8 + 4);
  });
});
