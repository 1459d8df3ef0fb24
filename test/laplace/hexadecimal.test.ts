import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { putHex, putHex32, writeHex } from '../../src/laplace/hexadecimal.js';

const bytes = Buffer.alloc(32);
const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
const text = (end: number): string => bytes.toString('latin1', 1, end);

describe('numbers in hexadecimal', () => {
  it.each([0, 1, 9, 10, 15, 16, 0xff, 0x100, 0xffff, 0x1_0000, 0x9fff_ffff, 0xffff_ffff])(
    'of 32 bits: %i',
    (value) => {
      expect(text(putHex32(view, 1, value))).toBe(value.toString(16));
    },
  );

  it('are those of toString(16), up to 2^53 - 1', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.nat({ max: 0xffff_ffff }),
          fc.maxSafeNat(),
          fc.constantFrom(2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 52, Number.MAX_SAFE_INTEGER),
        ),
        (value) => {
          expect(text(putHex(view, 1, value))).toBe(value.toString(16));
          expect(text(writeHex(bytes, 1, value))).toBe(value.toString(16));
        },
      ),
      { numRuns: 2000 },
    );
  });
});
