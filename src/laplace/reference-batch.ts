import { integerIn } from '../core/argument.js';
import { outOfRange, wrongType } from '../core/errors.js';
import type { Ring } from '../core/ring.js';
import { RECORD_BYTES } from './layout.js';
import type { ReferenceForm } from './layout.js';
import { LITTLE_MACHINE, packer } from './reference-packer.js';
import type { CheckedArrays, Pack } from './reference-packer.js';
import { firstWrongType, ReferenceFormatter } from './reference-text.js';
import { isType, typeByte } from './reference-values.js';

/** Many references, a typed array for each field; all arrays have the same length. */
export interface ReferenceArrays {
  /** A character code each, or one character for all. */
  type: Uint8Array | string;
  /** Absent: all get the same timestamp, from Tracewright's clock. */
  timestamp?: BigUint64Array | Float64Array | Uint32Array;
  /** Bytes that are accessed, each, or for all. */
  length: Uint8Array | number;
  /** Address spaces, each, or for all. */
  space: Uint32Array | number;
  address: Uint32Array;
}

const EACH = -1;
const SAME = 0;
const TWO_TO_MINUS_32 = 2 ** -32;
/** Records that are turned into lines at once: their text fits every ring. */
const TEXT_RECORDS = 512;

function checkLength(field: string, array: { length: number }, count: number): void {
  if (array.length === count) return;
  throw outOfRange(`${field}.length`, array.length, `${count}, the length of address`);
}

function narrow(field: string, value: number, high: number): number {
  return integerIn(field, value, 0, high);
}

function checkArrays(arrays: ReferenceArrays): CheckedArrays {
  const given: Readonly<Record<keyof ReferenceArrays, unknown>> = {
    timestamp: undefined,
    ...arrays,
  };
  const { type, timestamp, length, space, address } = given;
  if (!(address instanceof Uint32Array)) throw wrongType('address', address, 'a Uint32Array');
  const count = address.length;

  let types: Uint8Array;
  if (typeof type === 'string') {
    types = Uint8Array.of(typeByte(type));
  } else {
    if (!(type instanceof Uint8Array)) throw wrongType('type', type, 'a Uint8Array or a character');
    checkLength('type', type, count);
    const wrong = type.findIndex((code) => !isType(code));
    if (wrong !== -1) {
      throw outOfRange(`type[${wrong}]`, type[wrong], 'a printable ASCII character, 0x21 to 0x7e');
    }
    types = type;
  }

  let halves: Uint32Array | undefined;
  let numbers: Float64Array | Uint32Array | undefined;
  if (timestamp instanceof BigUint64Array) {
    checkLength('timestamp', timestamp, count);
    halves = new Uint32Array(timestamp.buffer, timestamp.byteOffset, 2 * count);
  } else if (timestamp instanceof Float64Array || timestamp instanceof Uint32Array) {
    checkLength('timestamp', timestamp, count);
    if (timestamp instanceof Float64Array) checkExact(timestamp);
    numbers = timestamp;
  } else if (timestamp !== undefined) {
    throw wrongType('timestamp', timestamp, 'a BigUint64Array, Float64Array or Uint32Array');
  }

  if (length instanceof Uint8Array) checkLength('length', length, count);
  else if (typeof length !== 'number')
    throw wrongType('length', length, 'a Uint8Array or a number');
  if (space instanceof Uint32Array) checkLength('space', space, count);
  else if (typeof space !== 'number') throw wrongType('space', space, 'a Uint32Array or a number');
  return {
    count,
    types,
    typeMask: typeof type === 'string' ? SAME : EACH,
    halves,
    halfMask: EACH,
    numbers,
    lengths: typeof length === 'number' ? Uint8Array.of(narrow('length', length, 0xff)) : length,
    lengthMask: typeof length === 'number' ? SAME : EACH,
    spaces: typeof space === 'number' ? Uint32Array.of(narrow('space', space, 0xffff_ffff)) : space,
    spaceMask: typeof space === 'number' ? SAME : EACH,
    addresses: address,
  };
}

function checkExact(timestamps: Float64Array): void {
  for (let i = 0; i < timestamps.length; i++) {
    const value = timestamps[i]!;
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value)) {
      throw outOfRange(`timestamp[${i}]`, value, 'an integer from 0 to 2^53 - 1');
    }
  }
}

/** Records many references at once: a copy or a loop over arrays, and a commit for each chunk. */
export class ReferenceBatches {
  readonly #ring: Ring;
  /** Of a trace in text: what makes lines of the packed records. */
  readonly #formatter: ReferenceFormatter | undefined;
  /** Records of a trace in text, before they are lines. */
  readonly #packed: Uint8Array;
  #pack: Pack | undefined;
  readonly #makePack: () => Pack;

  constructor(ring: Ring, form: ReferenceForm, little: boolean) {
    this.#ring = ring;
    this.#formatter = form === 'text' ? new ReferenceFormatter(little, TEXT_RECORDS) : undefined;
    this.#packed = new Uint8Array(form === 'text' ? TEXT_RECORDS * RECORD_BYTES : 0);
    const view = form === 'text' ? new DataView(this.#packed.buffer) : ring.view;
    this.#makePack = () => packer(view, little);
  }

  /** @see References.batch, which states the contract. */
  record(references: Uint8Array | ReferenceArrays): void {
    if (references instanceof Uint8Array) {
      this.#recordPacked(references);
    } else if (typeof references === 'object' && (references as unknown) !== null) {
      this.#recordArrays(references);
    } else {
      throw wrongType('references', references, 'a Uint8Array, or an object of typed arrays');
    }
  }

  #recordPacked(records: Uint8Array): void {
    const count = records.length / RECORD_BYTES;
    if (!Number.isInteger(count)) {
      throw outOfRange('references.length', records.length, `a multiple of ${RECORD_BYTES}`);
    }
    const wrong = firstWrongType(records, 0, count);
    if (wrong < count) {
      throw outOfRange(
        `references[${wrong * RECORD_BYTES}]`,
        records[wrong * RECORD_BYTES],
        'a type: a printable ASCII character, 0x21 to 0x7e',
      );
    }
    this.#refuseIfClosed();
    if (this.#formatter !== undefined) {
      this.#recordLines(this.#formatter, records, count);
      return;
    }
    const ring = this.#ring;
    for (let done = 0; done < count;) {
      const chunk = this.#chunk(count - done);
      if (chunk > 0) {
        const bytes = records.subarray(done * RECORD_BYTES, (done + chunk) * RECORD_BYTES);
        ring.bytes.set(bytes, ring.position);
        ring.advance(bytes.length);
        ring.commit();
      }
      done += Math.max(chunk, 1);
    }
  }

  #recordArrays(arrays: ReferenceArrays): void {
    const checked = checkArrays(arrays);
    this.#refuseIfClosed();
    if (checked.halves === undefined && checked.numbers === undefined) this.#stampAll(checked);
    const ring = this.#ring;
    const { count } = checked;
    const pack = (this.#pack ??= this.#makePack());
    for (let done = 0; done < count;) {
      if (this.#formatter !== undefined) {
        const chunk = Math.min(count - done, TEXT_RECORDS);
        pack(0, checked, done, done + chunk);
        this.#recordLines(this.#formatter, this.#packed, chunk);
        done += chunk;
        continue;
      }
      const chunk = this.#chunk(count - done);
      if (chunk > 0) {
        pack(ring.position, checked, done, done + chunk);
        ring.advance(chunk * RECORD_BYTES);
        ring.commit();
      }
      done += Math.max(chunk, 1);
    }
  }

  /** One reading of the clock for all. */
  #stampAll(arrays: CheckedArrays): void {
    this.#ring.readStamp();
    const now = this.#ring.stamp[0]!;
    const halves = [now >>> 0, Math.floor(now * TWO_TO_MINUS_32)];
    arrays.halves = Uint32Array.from(LITTLE_MACHINE ? halves : halves.reverse());
    arrays.halfMask = SAME;
  }

  /**
   * How many records may be written now; 0: the next one is dropped, and has been counted. A large
   * batch goes in quarters of the ring, so that the drain thread works beside it.
   */
  #chunk(wanted: number): number {
    const ring = this.#ring;
    if (ring.free < RECORD_BYTES && !ring.makeRoom(RECORD_BYTES)) return 0;
    const most = Math.min(ring.free, ring.capacity / 4);
    return Math.min(wanted, Math.floor(most / RECORD_BYTES));
  }

  #recordLines(formatter: ReferenceFormatter, records: Uint8Array, count: number): void {
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    const ring = this.#ring;
    const write = (lines: Uint8Array): void => {
      ring.bytes.set(lines, ring.position);
      ring.advance(lines.length);
      ring.commit();
    };
    for (let done = 0; done < count; done += TEXT_RECORDS) {
      const chunk = Math.min(count - done, TEXT_RECORDS);
      const from = done * RECORD_BYTES;
      const lines = formatter.format(view, from, chunk);
      if (lines.length <= ring.free) {
        write(lines);
        continue;
      }
      // One by one, so that what a full ring turns away is counted as what it is.
      for (let i = 0; i < chunk; i++) {
        const line = formatter.format(view, from + i * RECORD_BYTES, 1);
        if (ring.free >= line.length || ring.makeRoom(line.length)) write(line);
      }
    }
  }

  /** Also for an empty batch, which looks for no room. */
  #refuseIfClosed(): void {
    if (!this.#ring.isOpen) this.#ring.makeRoom(0);
  }
}
