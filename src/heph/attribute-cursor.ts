import {
  LENGTH_BYTES,
  TYPE_ARRAY,
  TYPE_F64,
  TYPE_I64,
  TYPE_STRING,
  TYPE_U64,
  WORD_BYTES,
} from './layout.js';

const TWO_32 = 2 ** 32;

/** Why `AttributeCursor.next` has stopped before the end. */
export interface AttributeFault {
  part: 'name' | 'type' | 'value';
  /** The offset of what is wrong. */
  at: number;
  /** Bytes that it takes, which the record does not have; 0: the type is unknown. */
  needed: number;
}

/**
 * Steps through the attributes of a record, whatever its bytes are. This is the one reader of their layout. It makes no
 * objects: a scan runs it over each attribute of a trace. All offsets are those of the view.
 */
export class AttributeCursor {
  /** Where the next attribute begins. */
  at = 0;
  nameStart = 0;
  nameEnd = 0;
  /** The type of the value, or of the elements of an array. */
  type = 0;
  /** Elements of an array that `nextElement` has not read; -1: the value is no array. */
  count = -1;
  /** Where the value lies, or the element that was read last: the text of a string, or the eight bytes of a word. */
  valueStart = 0;
  valueEnd = 0;
  fault: AttributeFault | undefined;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #end = 0;

  /** Begins with the attributes from `at` to `end`. */
  set(view: DataView, at: number, end: number): void {
    this.#view = view;
    this.#end = end;
    this.at = at;
    this.fault = undefined;
  }

  /** Reads the next attribute; false at the end, or at a `fault`. */
  next(): boolean {
    const view = this.#view;
    const end = this.#end;
    const { at } = this;
    if (at + LENGTH_BYTES + 1 > end) return at < end && this.#stopAtName(at);
    const nameEnd = at + LENGTH_BYTES + view.getUint16(at);
    if (nameEnd >= end) return this.#stopAtName(at);
    this.nameStart = at + LENGTH_BYTES;
    this.nameEnd = nameEnd;
    const type = view.getUint8(nameEnd);
    let start = nameEnd + 1;
    let to = start + WORD_BYTES;
    if (type === TYPE_STRING) {
      start += LENGTH_BYTES;
      to = start > end ? start : start + view.getUint16(start - LENGTH_BYTES);
    } else if (!isWord(type)) {
      return this.#nextArray(type);
    }
    if (to > end) return this.#stopAtValue(start, to);
    this.type = type;
    this.count = -1;
    this.valueStart = start;
    this.valueEnd = to;
    this.at = to;
    return true;
  }

  /** Reads the next element of an array; false after the last one. */
  nextElement(): boolean {
    if (this.count <= 0) return false;
    this.count--;
    const at = this.valueEnd;
    if (this.type === TYPE_STRING) {
      this.valueStart = at + LENGTH_BYTES;
      this.valueEnd = this.valueStart + this.#view.getUint16(at);
    } else {
      this.valueStart = at;
      this.valueEnd = at + WORD_BYTES;
    }
    return true;
  }

  get isArray(): boolean {
    return this.count !== -1;
  }

  /** Whether the value is a string, or the elements are. */
  get isText(): boolean {
    return this.type === TYPE_STRING;
  }

  get isFloat(): boolean {
    return this.type === TYPE_F64;
  }

  /** Whether the value is one u64. */
  get isUnsigned(): boolean {
    return this.type === TYPE_U64 && this.count === -1;
  }

  /** Whether the value is one u64 or i64. */
  get isInteger(): boolean {
    return this.type <= TYPE_I64 && this.count === -1;
  }

  /** A value that is no text: a bigint beyond 2^53. */
  number(): number | bigint {
    const view = this.#view;
    const { type, valueStart: at } = this;
    if (type === TYPE_F64) return view.getFloat64(at);
    const high = type === TYPE_U64 ? view.getUint32(at) : view.getInt32(at);
    const value = high * TWO_32 + view.getUint32(at + 4);
    // Number.isSafeInteger, which V8 compiles as a call.
    const isExact = value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;
    return isExact ? value : this.bigint();
  }

  /** A value that is a u64 or i64. */
  bigint(): bigint {
    const { type, valueStart } = this;
    return type === TYPE_U64
      ? this.#view.getBigUint64(valueStart)
      : this.#view.getBigInt64(valueStart);
  }

  #nextArray(given: number): boolean {
    const end = this.#end;
    const type = given & ~TYPE_ARRAY;
    if (given < TYPE_ARRAY || (type !== TYPE_STRING && !isWord(type))) {
      return this.#stop('type', this.nameEnd, 0);
    }
    const countAt = this.nameEnd + 1;
    const start = countAt + LENGTH_BYTES;
    if (start > end) return this.#stop('value', countAt, LENGTH_BYTES);
    const count = this.#view.getUint16(countAt);
    const least = count * (type === TYPE_STRING ? LENGTH_BYTES : WORD_BYTES);
    if (start + least > end) return this.#stop('value', start, least);
    let to = start + least;
    if (type === TYPE_STRING) {
      to = start;
      for (let left = count; left > 0; left--) {
        if (to + LENGTH_BYTES > end) return this.#stop('value', to, LENGTH_BYTES);
        const bytes = LENGTH_BYTES + this.#view.getUint16(to);
        if (to + bytes > end) return this.#stop('value', to, bytes);
        to += bytes;
      }
    }
    this.type = type;
    this.count = count;
    this.valueStart = start;
    this.valueEnd = start;
    this.at = to;
    return true;
  }

  #stopAtName(at: number): false {
    const left = this.#end - at;
    if (left < LENGTH_BYTES) return this.#stop('name', at, LENGTH_BYTES);
    const bytes = LENGTH_BYTES + this.#view.getUint16(at);
    if (bytes > left) return this.#stop('name', at, bytes);
    this.nameStart = at + LENGTH_BYTES;
    this.nameEnd = at + bytes;
    return this.#stop('type', at + bytes, 1);
  }

  #stopAtValue(start: number, to: number): false {
    const valueAt = this.nameEnd + 1;
    return this.#stop('value', valueAt, (start > this.#end ? start : to) - valueAt);
  }

  #stop(part: AttributeFault['part'], at: number, needed: number): false {
    this.fault = { part, at, needed };
    return false;
  }
}

function isWord(type: number): boolean {
  return type >= TYPE_U64 && type <= TYPE_F64;
}

/** Whether a value of this type is a u64. */
export function isUnsigned(type: number): boolean {
  return type === TYPE_U64;
}
