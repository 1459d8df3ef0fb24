import { types } from 'node:util';
import { copyRecords, firstInexact, firstOutside, packRecords } from '../../core/native-calls.js';
import type { NativeColumn } from '../../core/native-core.js';
import { integerIn } from '../../core/options/argument.js';
import { outOfRange, wrongType } from '../../core/errors.js';
import type { Ring } from '../../core/ring/ring.js';
import { bufferOf, byteOffsetOf, isDetached, lengthOf, unshared } from '../../core/typed-array.js';
import { FIRST_TYPE, LAST_TYPE, packedLayout, RECORD_BYTES, TYPE_OFFSET } from '../layout.js';
import type { ReferenceForm } from '../layout.js';
import { ReferenceFormatter } from '../reference-lines.js';
import { firstWrongType, typeByte } from '../reference-values.js';

/** Many references: a typed array for each field, all of the same length. */
export interface ReferenceArrays {
  /** A character code for each, or one character for all. */
  type: Uint8Array | string;
  /** Undefined: all get the same timestamp, from Tracewright's clock. */
  timestamp?: BigUint64Array | Float64Array | Uint32Array;
  /** Accessed bytes of each, or one number for all. */
  length: Uint8Array | number;
  /** Address space of each, or one number for all. */
  space: Uint32Array | number;
  address: Uint32Array;
}

/** Records that are formatted at once: their lines fit every ring. */
const TEXT_RECORDS = 512;

function refuseDetached(field: string, array: NativeColumn): void {
  if (isDetached(array)) throw outOfRange(field, array, 'an array whose buffer is not detached');
}

/** Columns of `count` elements each, or of one element for all references. */
interface CheckedArrays {
  count: number;
  types: Uint8Array;
  /** Undefined: to be read from the clock. */
  timestamps: NativeColumn | undefined;
  lengths: Uint8Array;
  spaces: Uint32Array;
  addresses: Uint32Array;
}

function checkLength(field: string, array: NativeColumn, count: number): void {
  const length = lengthOf.call(array);
  if (length === count) return;
  throw outOfRange(`${field}.length`, length, `${count}, the length of address`);
}

/** @throws TracewrightError for the first invalid type. */
function checkTypes(type: Uint8Array, count: number): void {
  const wrong = firstOutside(type, 0, 1, count, FIRST_TYPE, LAST_TYPE);
  if (wrong === count) return;
  throw outOfRange(`type[${wrong}]`, type[wrong], 'a printable ASCII character, 0x21 to 0x7e');
}

function checkExact(timestamp: Float64Array, count: number): void {
  const wrong = firstInexact(timestamp);
  if (wrong === count) return;
  throw outOfRange(`timestamp[${wrong}]`, timestamp[wrong], 'an integer from 0 to 2^53 - 1');
}

/** Values for all references of a batch, as columns of one element. */
class SharedValues {
  readonly #type = new Uint8Array(1);
  readonly #length = new Uint8Array(1);
  readonly #space = new Uint32Array(1);

  type(value: string): Uint8Array {
    this.#type[0] = typeByte(value);
    return this.#type;
  }

  length(value: number): Uint8Array {
    this.#length[0] = integerIn('length', value, 0, 0xff);
    return this.#length;
  }

  space(value: number): Uint32Array {
    this.#space[0] = integerIn('space', value, 0, 0xffff_ffff);
    return this.#space;
  }
}

const ARRAY_NAMES = {
  type: true,
  timestamp: true,
  length: true,
  space: true,
  address: true,
} as const;

function checkNames(arrays: ReferenceArrays): void {
  for (const name of Object.keys(arrays)) {
    if (Object.hasOwn(ARRAY_NAMES, name)) continue;
    const limit = `one of ${Object.keys(ARRAY_NAMES).sort().join(', ')}`;
    throw outOfRange('references option', name, limit);
  }
}

/** A column that nobody changes while it is recorded: what another thread shares is copied. */
function own(value: unknown): unknown {
  return types.isTypedArray(value) && !isDetached(value) ? unshared(value as Uint8Array) : value;
}

function checkArrays(arrays: ReferenceArrays, shared: SharedValues): CheckedArrays {
  // Each is read once, before anything is checked: a getter can detach what was read before it.
  const given: Readonly<Record<keyof ReferenceArrays, unknown>> = arrays as never;
  let { type, timestamp, length, space } = given;
  const { address: addresses } = given;
  if (!types.isUint32Array(addresses)) throw wrongType('address', addresses, 'a Uint32Array');
  // Only this array is optional: a misspelt name would go unnoticed.
  if (timestamp === undefined) checkNames(arrays);
  [type, timestamp, length, space] = [type, timestamp, length, space].map(own);
  const address = isDetached(addresses) ? addresses : unshared(addresses);
  const count = lengthOf.call(address);
  if (count === 0) refuseDetached('address', address);

  if (types.isUint8Array(type)) {
    checkLength('type', type, count);
    checkTypes(type, count);
  } else if (typeof type !== 'string') {
    throw wrongType('type', type, 'a Uint8Array or a character');
  }
  if (
    types.isFloat64Array(timestamp) ||
    types.isBigUint64Array(timestamp) ||
    types.isUint32Array(timestamp)
  ) {
    checkLength('timestamp', timestamp, count);
    if (types.isFloat64Array(timestamp)) checkExact(timestamp, count);
  } else if (timestamp !== undefined) {
    throw wrongType('timestamp', timestamp, 'a BigUint64Array, Float64Array or Uint32Array');
  }
  if (types.isUint8Array(length)) checkLength('length', length, count);
  else if (typeof length !== 'number')
    throw wrongType('length', length, 'a Uint8Array or a number');
  if (types.isUint32Array(space)) checkLength('space', space, count);
  else if (typeof space !== 'number') throw wrongType('space', space, 'a Uint32Array or a number');
  return {
    count,
    types: typeof type === 'string' ? shared.type(type) : type,
    timestamps: timestamp,
    lengths: typeof length === 'number' ? shared.length(length) : length,
    spaces: typeof space === 'number' ? shared.space(space) : space,
    addresses: address,
  };
}

/** Records many references at once: checked and copied natively, with one commit per chunk. */
export class ReferenceBatches {
  readonly #ring: Ring;
  /** For a trace in text: formats the packed records as lines. */
  readonly #formatter: ReferenceFormatter | undefined;
  /** Records of a trace in text, before they are formatted. */
  readonly #packed: Uint8Array;
  readonly #layout: Uint8Array;
  readonly #shared = new SharedValues();

  constructor(ring: Ring, form: ReferenceForm, little: boolean) {
    this.#ring = ring;
    this.#formatter = form === 'text' ? new ReferenceFormatter(little, TEXT_RECORDS) : undefined;
    this.#packed = new Uint8Array(form === 'text' ? TEXT_RECORDS * RECORD_BYTES : 0);
    this.#layout = packedLayout(little);
  }

  /** @see References.batch, which states the contract. */
  record(references: Uint8Array | ReferenceArrays): void {
    if (types.isUint8Array(references)) {
      if (lengthOf.call(references) === 0) refuseDetached('references', references);
      this.#recordPacked(unshared(references));
    } else if (typeof references === 'object' && (references as unknown) !== null) {
      this.#recordArrays(references);
    } else {
      throw wrongType('references', references, 'a Uint8Array, or an object of typed arrays');
    }
  }

  #recordPacked(records: Uint8Array): void {
    const length = lengthOf.call(records);
    const count = length / RECORD_BYTES;
    if (!Number.isInteger(count)) {
      throw outOfRange('references.length', length, `a multiple of ${RECORD_BYTES}`);
    }
    const ring = this.#ring;
    if (this.#formatter === undefined && length < Math.min(ring.free, ring.capacity / 4)) {
      // The copy also checks: it is invisible until the commit. A closed ring has no room.
      this.#refuseWrongType(records, this.#copy(records, 0, count), count);
      ring.advance(length);
      ring.commit();
      return;
    }
    this.#refuseWrongType(records, firstWrongType(records, 0, count), count);
    this.#refuseIfClosed();
    if (this.#formatter !== undefined) {
      this.#recordLines(this.#formatter, records, count);
      return;
    }
    for (let done = 0; done < count;) {
      const chunk = this.#chunk(count - done);
      if (chunk > 0) {
        this.#copy(records, done, chunk);
        ring.advance(chunk * RECORD_BYTES);
        ring.commit();
      }
      done += Math.max(chunk, 1);
    }
  }

  /** Copies records into the ring and returns how many precede an invalid type. */
  #copy(records: Uint8Array, first: number, count: number): number {
    const { bytes, position } = this.#ring;
    const from = first * RECORD_BYTES;
    return copyRecords(bytes, position, records, from, RECORD_BYTES, count, FIRST_TYPE, LAST_TYPE);
  }

  #refuseWrongType(records: Uint8Array, good: number, count: number): void {
    if (good === count) return;
    const at = good * RECORD_BYTES + TYPE_OFFSET;
    throw outOfRange(
      `references[${at}]`,
      records[at],
      'a type: a printable ASCII character, 0x21 to 0x7e',
    );
  }

  #recordArrays(arrays: ReferenceArrays): void {
    const checked = checkArrays(arrays, this.#shared);
    this.#refuseIfClosed();
    const ring = this.#ring;
    if (checked.timestamps === undefined) {
      // One reading of the clock for all.
      ring.readStamp();
      checked.timestamps = ring.stamp;
    }
    const { count } = checked;
    for (let done = 0; done < count;) {
      if (this.#formatter !== undefined) {
        const chunk = Math.min(count - done, TEXT_RECORDS);
        this.#pack(this.#packed, 0, checked, done, chunk);
        this.#recordLines(this.#formatter, this.#packed, chunk);
        done += chunk;
        continue;
      }
      const chunk = this.#chunk(count - done);
      if (chunk > 0) {
        this.#pack(ring.bytes, ring.position, checked, done, chunk);
        ring.advance(chunk * RECORD_BYTES);
        ring.commit();
      }
      done += Math.max(chunk, 1);
    }
  }

  #pack(to: Uint8Array, at: number, arrays: CheckedArrays, first: number, count: number): void {
    const { types, timestamps, lengths, spaces, addresses } = arrays;
    packRecords(this.#layout, to, at, first, count, types, timestamps!, lengths, spaces, addresses);
  }

  /**
   * How many records may be written now; 0: the next one is dropped, and was counted. A large batch
   * is split into quarters of the ring, so that the drain thread works at the same time.
   */
  #chunk(wanted: number): number {
    const ring = this.#ring;
    if (ring.free < RECORD_BYTES && !ring.makeRoom(RECORD_BYTES)) return 0;
    const most = Math.min(ring.free, ring.capacity / 4);
    return Math.min(wanted, Math.floor(most / RECORD_BYTES));
  }

  #recordLines(formatter: ReferenceFormatter, records: Uint8Array, count: number): void {
    const view = new DataView(
      bufferOf.call(records),
      byteOffsetOf.call(records),
      lengthOf.call(records),
    );
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
      // One by one, so that the dropped ones are counted.
      for (let i = 0; i < chunk; i++) {
        const line = formatter.format(view, from + i * RECORD_BYTES, 1);
        if (ring.free >= line.length || ring.makeRoom(line.length)) write(line);
      }
    }
  }

  /** Also for an empty batch, which needs no room. */
  #refuseIfClosed(): void {
    if (!this.#ring.isOpen) this.#ring.makeRoom(0);
  }
}
