import { describe, expect, it } from 'vitest';
import { RECORD_BYTES } from '../../src/laplace/layout.js';
import { firstWrongType } from '../../src/laplace/reference-values.js';

describe('firstWrongType', () => {
  it.each([0x00, 0x20, 0x7f, 0xff])('finds byte %i wherever it stands', (wrong) => {
    for (let count = 0; count <= 9; count++) {
      const records = new Uint8Array(5 + count * RECORD_BYTES).fill(0x20);
      for (let i = 0; i < count; i++) records[5 + i * RECORD_BYTES] = i % 2 === 0 ? 0x21 : 0x7e;
      expect(firstWrongType(records, 5, count)).toBe(count);
      for (let i = count - 1; i >= 0; i--) {
        records[5 + i * RECORD_BYTES] = wrong;
        expect(firstWrongType(records, 5, count)).toBe(i);
      }
    }
  });
});
