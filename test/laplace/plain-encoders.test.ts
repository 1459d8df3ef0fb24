import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONGEST_REFERENCE_LINE, RECORD_BYTES } from '../../src/laplace/layout.js';
import { packer, plainPacker } from '../../src/laplace/reference-packer.js';
import type { CheckedArrays } from '../../src/laplace/reference-packer.js';
import { plainFormat, ReferenceFormatter } from '../../src/laplace/reference-text.js';

const MOST = 600;

/** Records of any bytes but the type. */
const records = fc.uint8Array({ maxLength: MOST * RECORD_BYTES }).map((bytes) => {
  const whole = bytes.slice(0, bytes.length - (bytes.length % RECORD_BYTES));
  for (let at = 0; at < whole.length; at += RECORD_BYTES) whole[at] = 0x21 + (whole[at]! % 94);
  return whole;
});

describe('where functions may not be made from text', () => {
  it('lines are the same', () => {
    fc.assert(
      fc.property(records, fc.boolean(), (bytes, little) => {
        const count = bytes.length / RECORD_BYTES;
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        const buffer = Buffer.alloc(MOST * LONGEST_REFERENCE_LINE);
        const plain = buffer.subarray(plainFormat(buffer, little)(view, 0, count));
        const fast = new ReferenceFormatter(little, MOST).format(view, 0, count);
        expect(Buffer.from(fast).toString('latin1')).toBe(plain.toString('latin1'));
      }),
    );
  });

  it('packed columns are the same', () => {
    const count = fc.integer({ min: 0, max: MOST });
    fc.assert(
      fc.property(count, fc.boolean(), fc.boolean(), fc.integer(), (n, little, wide, seed) => {
        const value = (i: number) => Math.imul(seed + i, 0x9e3779b1) >>> 0;
        const arrays: CheckedArrays = {
          count: n,
          types: wide ? Uint8Array.from({ length: n }, (_, i) => i) : Uint8Array.of(0x72),
          typeMask: wide ? -1 : 0,
          halves: wide ? Uint32Array.from({ length: 2 * n }, (_, i) => value(i)) : undefined,
          halfMask: -1,
          numbers: wide
            ? undefined
            : Float64Array.from({ length: n }, (_, i) => value(i) * 2 ** 20),
          lengths: wide ? Uint8Array.of(8) : Uint8Array.from({ length: n }, (_, i) => value(i)),
          lengthMask: wide ? 0 : -1,
          spaces: wide ? Uint32Array.from({ length: n }, (_, i) => value(i)) : Uint32Array.of(7),
          spaceMask: wide ? -1 : 0,
          addresses: Uint32Array.from({ length: n }, (_, i) => value(i)),
        };
        const [plain, fast] = [new Uint8Array(n * RECORD_BYTES), new Uint8Array(n * RECORD_BYTES)];
        plainPacker(new DataView(plain.buffer), little)(0, arrays, 0, n);
        packer(new DataView(fast.buffer), little)(0, arrays, 0, n);
        expect(Buffer.compare(plain, fast)).toBe(0);
      }),
    );
  });
});
