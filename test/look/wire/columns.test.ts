import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeColumns, encodeColumns } from '../../../src/look/wire/columns.js';

it('columns arrive as they were sent', () => {
  fc.assert(
    fc.property(
      fc.float64Array(),
      fc.uint8Array(),
      fc.int32Array(),
      fc.string(),
      (times, flags, rows, text) => {
        const sent = { times, flags, rows, none: new Uint32Array(0) };
        const frame = encodeColumns(sent, { text });
        const { meta, columns } = decodeColumns(frame.buffer as ArrayBuffer);
        expect(columns).toEqual(sent);
        expect(meta).toEqual({ text });
      },
    ),
  );
});

it('what is no frame is refused', () => {
  expect(() => decodeColumns(new ArrayBuffer(16))).toThrow('no frame');
  expect(() => decodeColumns(new ArrayBuffer(3))).toThrow(RangeError);
});
