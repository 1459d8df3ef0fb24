import type { TraceFormatError } from '../../core/errors.js';
import { digitValue } from '../hexadecimal.js';
import {
  ADDRESS_DIGITS,
  ADDRESS_OFFSET,
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
} from '../layout.js';
import { isType } from '../reference-values.js';
import { faultyReferenceLine } from './reference-faults.js';

/** Parses lines into binary records, one chunk at a time. */
export class ReferenceParser {
  readonly #path: string;
  readonly #little: boolean;
  readonly #view: DataView;
  /** The records of the last chunk. */
  readonly records: Uint8Array;
  /** Where the line of each of them begins, in bytes from the start of the chunk. */
  readonly lineStarts: Uint32Array;
  /** Bytes of the chunk in complete lines. */
  consumed = 0;
  /** The fault of the line that begins at `consumed`, if it has one. */
  fault: TraceFormatError | undefined;
  #field = '';
  #fieldAt = 0;

  /**
   * @param path names the text in errors.
   * @param little byte order of the records.
   * @param chunkBytes most bytes of a chunk of text.
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
   * Parses the complete lines of `text` and returns the number of records. It stops before a faulty
   * line and sets `fault`.
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
    // The last byte is a newline, not a digit: no loop over digits leaves the text.
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
