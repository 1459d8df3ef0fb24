import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONGEST_REFERENCE_LINE, RECORD_BYTES } from '../../src/laplace/layout.js';
import { plainFormat, ReferenceFormatter } from '../../src/laplace/reference-lines.js';

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
});
