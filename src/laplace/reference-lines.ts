import { compile, mayCompile } from '../core/ring/compile.js';
import { digitCount, fourDigits, writeHex, writeHex32 } from './hexadecimal.js';
import type { Wide } from './hexadecimal.js';
import {
  ADDRESS_OFFSET,
  LENGTH_OFFSET,
  LONGEST_REFERENCE_LINE,
  NEWLINE,
  RECORD_BYTES,
  SPACE,
  SPACE_OFFSET,
  TIMESTAMP_DIGITS,
  TIMESTAMP_OFFSET,
} from './layout.js';

/** Writes a line with checked values at `at` and returns where it ends. */
export function writeLine(
  bytes: Uint8Array,
  at: number,
  type: number,
  timestamp: Wide,
  length: number,
  space: number,
  address: number,
): number {
  bytes[at] = type;
  bytes[at + 1] = SPACE;
  let end = writeHex(bytes, at + 2, timestamp);
  bytes[end] = SPACE;
  end = writeHex32(bytes, end + 1, length);
  bytes[end] = SPACE;
  end = writeHex32(bytes, end + 1, space);
  bytes[end] = SPACE;
  end = writeHex32(bytes, end + 1, address);
  bytes[end] = NEWLINE;
  return end + 1;
}

/** The zeros of a timestamp reach this far before its line until they are overwritten. */
const SLACK = TIMESTAMP_DIGITS;

/** Writes the lines of `count` records from byte `from` on, so that they end at the buffer's end. */
type FormatBackwards = (records: DataView, from: number, count: number) => number;

/**
 * Makes a function that writes a chunk from its last line to its first, and each line from its end.
 * Each number is stored with all its digits, four at once from a table. The text before it overwrites
 * the leading zeros, so no digit needs a branch. The function returns where the first line begins.
 */
function compiledFormat(bytes: Buffer, view: DataView, little: boolean): FormatBackwards {
  const low = TIMESTAMP_OFFSET + (little ? 0 : 4);
  const high = TIMESTAMP_OFFSET + (little ? 4 : 0);
  const put = (
    value: string,
  ): string => `view.setUint32(at - 4, fourDigits[${value} & 65535], true);
    view.setUint32(at - 8, fourDigits[${value} >>> 16], true);`;
  const number = (value: string): string => `${put(value)}
    at -= digitCount(${value}) + 1;
    bytes[at] = ${SPACE};`;
  const body = `return function format(records, from, count) {
  let at = ${bytes.length};
  for (let record = from + (count - 1) * ${RECORD_BYTES}; record >= from; record -= ${RECORD_BYTES}) {
    const address = records.getUint32(record + ${ADDRESS_OFFSET}, ${little});
    const space = records.getUint32(record + ${SPACE_OFFSET}, ${little});
    const length = records.getUint8(record + ${LENGTH_OFFSET});
    const low = records.getUint32(record + ${low}, ${little});
    const high = records.getUint32(record + ${high}, ${little});
    at -= 1;
    bytes[at] = ${NEWLINE};
    ${number('address')}
    ${number('space')}
    view.setUint32(at - 4, fourDigits[length], true);
    at -= digitCount(length) + 1;
    bytes[at] = ${SPACE};
    ${put('low')}
    if (high === 0) {
      at -= digitCount(low) + 1;
    } else {
      at -= 8;
      ${put('high')}
      at -= digitCount(high) + 1;
    }
    bytes[at] = ${SPACE};
    at -= 1;
    bytes[at] = records.getUint8(record);
  }
  return at;
};`;
  const scope = { bytes, view, fourDigits, digitCount };
  return compile('laplace format', scope, body) as FormatBackwards;
}

/** The same for processes that may not compile functions from text; slower. */
export function plainFormat(bytes: Buffer, little: boolean): FormatBackwards {
  return (records, from, count) => {
    let end = 0;
    for (let record = from; record < from + count * RECORD_BYTES; record += RECORD_BYTES) {
      end = writeLine(
        bytes,
        end,
        records.getUint8(record),
        records.getBigUint64(record + TIMESTAMP_OFFSET, little),
        records.getUint8(record + LENGTH_OFFSET),
        records.getUint32(record + SPACE_OFFSET, little),
        records.getUint32(record + ADDRESS_OFFSET, little),
      );
    }
    bytes.copyWithin(bytes.length - end, 0, end);
    return bytes.length - end;
  };
}

/** Formats binary records as lines, one chunk at a time. */
export class ReferenceFormatter {
  readonly #bytes: Buffer;
  readonly #format: FormatBackwards;
  /** Records of a chunk, at most. */
  readonly chunkRecords: number;

  /** @param little byte order of the records. */
  constructor(little: boolean, chunkRecords: number) {
    this.chunkRecords = chunkRecords;
    const bytes = Buffer.allocUnsafe(SLACK + chunkRecords * LONGEST_REFERENCE_LINE);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#bytes = bytes;
    this.#format = mayCompile() ? compiledFormat(bytes, view, little) : plainFormat(bytes, little);
  }

  /**
   * The lines of `count` records that begin at byte `from`, valid until the next call. Types are not
   * checked.
   *
   * @param count at most `chunkRecords`.
   */
  format(records: DataView, from: number, count: number): Uint8Array {
    return this.#bytes.subarray(this.#format(records, from, count));
  }
}
