import { core } from '../core/addon.js';
import { compile, mayCompile } from '../core/ring/compile.js';
import { TraceFormatError } from '../core/errors.js';
import { digitCount, digitValue, fourDigits } from './hexadecimal.js';
import {
  ADDRESS_DIGITS,
  ADDRESS_OFFSET,
  FIRST_TYPE,
  LAST_TYPE,
  LENGTH_DIGITS,
  LENGTH_OFFSET,
  LONGEST_REFERENCE_LINE,
  NEWLINE,
  RECORD_BYTES,
  SHORTEST_REFERENCE_LINE,
  SPACE,
  SPACE_DIGITS,
  SPACE_OFFSET,
  TIMESTAMP_DIGITS,
  TIMESTAMP_OFFSET,
  TYPE_OFFSET,
} from './layout.js';
import { writeLine } from './write/reference-emitter.js';
import { isType } from './reference-values.js';

/** Padding of a timestamp reaches this far in front of its line before it is overwritten. */
const SLACK = TIMESTAMP_DIGITS;

/** Writes the lines of `count` records from byte `from` on, ending where the buffer ends. */
type FormatBackwards = (records: DataView, from: number, count: number) => number;

/**
 * Makes what writes a chunk from its last line to its first, and each line from its end: every number
 * is stored with all its digits, four at once from a table, and what stands in front of it overwrites
 * the leading zeros. So no digit needs a branch. The function returns where the first line begins.
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

/** The same where functions may not be made from text: right, but slower. */
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

/** Turns binary records into lines, a chunk at a time. */
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
   * The lines of `count` records that begin at byte `from`; valid until the next call. Types are not
   * checked.
   *
   * @param count at most `chunkRecords`.
   */
  format(records: DataView, from: number, count: number): Uint8Array {
    return this.#bytes.subarray(this.#format(records, from, count));
  }
}

/** The first record of a chunk whose type cannot be one; `count` when there is none. */
export function firstWrongType(records: Uint8Array, from: number, count: number): number {
  return core.firstOutside(records, from + TYPE_OFFSET, RECORD_BYTES, count, FIRST_TYPE, LAST_TYPE);
}

/** The error for a record whose first byte is no type. */
export function wrongTypeAt(path: string, offset: number, byte: number): TraceFormatError {
  const limit = 'a printable ASCII character other than a space';
  return new TraceFormatError(
    path,
    offset,
    `type must be ${limit}, got byte 0x${byte.toString(16).padStart(2, '0')}; ` +
      'is this a binary reference trace?',
    { field: 'type', value: byte, limit },
  );
}

/** The error for half a record at the end of a file. */
export function cutRecord(path: string, offset: number, bytes: number): TraceFormatError {
  return new TraceFormatError(
    path,
    offset,
    `the file ends inside a record: ${bytes} of ${RECORD_BYTES} bytes`,
    { field: 'record', value: bytes, limit: `${RECORD_BYTES} bytes` },
  );
}

/** Turns lines into binary records, a chunk at a time. */
export class ReferenceParser {
  readonly #path: string;
  readonly #little: boolean;
  readonly #view: DataView;
  /** The records of the last chunk. */
  readonly records: Uint8Array;
  /** Where the line of each of them begins, in bytes from the start of the chunk. */
  readonly lineStarts: Uint32Array;
  /** Bytes of the chunk that made up whole lines. */
  consumed = 0;
  /** What is wrong with the line that begins at `consumed`, if something is. */
  fault: TraceFormatError | undefined;
  #field = '';
  #fieldAt = 0;

  /**
   * @param path names the text in errors.
   * @param little byte order of the records.
   * @param chunkBytes of text, at most.
   */
  constructor(path: string, little: boolean, chunkBytes: number) {
    this.#path = path;
    this.#little = little;
    const most = Math.floor(chunkBytes / SHORTEST_REFERENCE_LINE) + 1;
    this.records = Buffer.allocUnsafe(most * RECORD_BYTES);
    this.#view = new DataView(this.records.buffer, this.records.byteOffset, this.records.length);
    this.lineStarts = new Uint32Array(most);
  }

  /**
   * Parses the whole lines of `text` and returns how many records there are. It ends in front of a
   * line that is none; `fault` says why then.
   *
   * @param offset of the chunk in the file, in bytes.
   */
  parse(text: Uint8Array, offset: number): number {
    const end = text.lastIndexOf(NEWLINE) + 1;
    const count = this.#parseLines(text, end);
    const rest = text.length - this.consumed;
    if (this.consumed < end) {
      this.fault = this.#faultyLine(text, offset);
    } else if (rest >= LONGEST_REFERENCE_LINE) {
      this.#field = 'line';
      this.#fieldAt = this.consumed;
      this.fault = this.#faultyLine(text, offset);
    } else {
      this.fault = undefined;
    }
    return count;
  }

  #parseLines(text: Uint8Array, end: number): number {
    const view = this.#view;
    const little = this.#little;
    const lineStarts = this.lineStarts;
    const lowOffset = TIMESTAMP_OFFSET + (little ? 0 : 4);
    const highOffset = TIMESTAMP_OFFSET + (little ? 4 : 0);
    let count = 0;
    let record = 0;
    let at = 0;
    // The last byte is a newline, which is no digit: no loop over digits leaves the text.
    while (at < end) {
      const start = at;
      this.consumed = start;
      const type = text[at]!;
      if (!isType(type) || text[at + 1] !== SPACE) return this.#stop('type', at, count);
      at += 2;

      let first = at;
      let high = 0;
      let low = 0;
      let digit = digitValue[text[at]!]!;
      while (digit < 16) {
        high = (high << 4) | (low >>> 28);
        low = (low << 4) | digit;
        at += 1;
        digit = digitValue[text[at]!]!;
      }
      if (at === first || at - first > TIMESTAMP_DIGITS || text[at] !== SPACE) {
        return this.#stop('timestamp', first, count);
      }
      at += 1;

      first = at;
      let length = 0;
      digit = digitValue[text[at]!]!;
      while (digit < 16) {
        length = (length << 4) | digit;
        at += 1;
        digit = digitValue[text[at]!]!;
      }
      if (at === first || at - first > LENGTH_DIGITS || text[at] !== SPACE) {
        return this.#stop('length', first, count);
      }
      at += 1;

      first = at;
      let space = 0;
      digit = digitValue[text[at]!]!;
      while (digit < 16) {
        space = (space << 4) | digit;
        at += 1;
        digit = digitValue[text[at]!]!;
      }
      if (at === first || at - first > SPACE_DIGITS || text[at] !== SPACE) {
        return this.#stop('space', first, count);
      }
      at += 1;

      first = at;
      let address = 0;
      digit = digitValue[text[at]!]!;
      while (digit < 16) {
        address = (address << 4) | digit;
        at += 1;
        digit = digitValue[text[at]!]!;
      }
      if (at === first || at - first > ADDRESS_DIGITS || text[at] !== NEWLINE) {
        return this.#stop('address', first, count);
      }
      at += 1;

      view.setUint8(record, type);
      view.setUint32(record + lowOffset, low, little);
      view.setUint32(record + highOffset, high, little);
      view.setUint8(record + LENGTH_OFFSET, length);
      view.setUint32(record + SPACE_OFFSET, space, little);
      view.setUint32(record + ADDRESS_OFFSET, address, little);
      lineStarts[count] = start;
      record += RECORD_BYTES;
      count += 1;
    }
    this.consumed = at;
    return count;
  }

  #stop(field: string, at: number, count: number): number {
    this.#field = field;
    this.#fieldAt = at;
    return count;
  }

  #faultyLine(text: Uint8Array, offset: number): TraceFormatError {
    return faultyReferenceLine(
      this.#path,
      offset + this.consumed,
      this.#field,
      Buffer.from(text.subarray(this.#fieldAt, this.#fieldAt + 40)).toString('latin1'),
    );
  }
}

const LIMITS: Readonly<Record<string, string>> = {
  type: 'one printable ASCII character, and a space behind it',
  timestamp: `1 to ${TIMESTAMP_DIGITS} hexadecimal digits, and a space behind them`,
  length: `1 or ${LENGTH_DIGITS} hexadecimal digits, and a space behind them`,
  space: `1 to ${SPACE_DIGITS} hexadecimal digits, and a space behind them`,
  address: `1 to ${ADDRESS_DIGITS} hexadecimal digits, and a newline behind them`,
  line: `at most ${LONGEST_REFERENCE_LINE} characters`,
};

function faultyReferenceLine(
  path: string,
  offset: number,
  field: string,
  found: string,
): TraceFormatError {
  const limit = LIMITS[field]!;
  const value = found.split('\n', 1)[0]!;
  return new TraceFormatError(
    path,
    offset,
    `${field} must be ${limit}, got ${JSON.stringify(value)}`,
    { field, value, limit },
  );
}

/** The error for a last line without its newline, which may have lost digits too. */
export function cutLine(path: string, offset: number): TraceFormatError {
  return new TraceFormatError(path, offset, 'the file ends inside a line: its newline is missing', {
    field: 'line',
    limit: 'a newline at the end',
  });
}
