const TWO_7 = 0x80;
const TWO_32 = 2 ** 32;
/** Longer texts are encoded by Buffer, whose call costs as much as so many characters in a loop. */
const LOOP_CHARACTERS = 40;
const MAX_VARINT_BYTES = 10;
/** More are handed over as they are: a copy takes their memory once more. */
const MANY_BYTES = 4 << 20;
const MAX_INT64 = 0x7fff_ffff_ffff_ffffn;
const MIN_INT64 = -0x8000_0000_0000_0000n;
const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;

/** By its code, what a hexadecimal digit is. */
const NIBBLES = new Uint8Array(128);
for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16);
  NIBBLES[text.charCodeAt(0)] = digit;
  NIBBLES[text.toUpperCase().charCodeAt(0)] = digit;
}

/** Wire types of protobuf. */
export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
export const FIXED32 = 5;

/** The tag of a field of a wire type. */
export function tagOf(field: number, wireType: number): number {
  return field * 8 + wireType;
}

/** Appends fields of protobuf messages to a buffer that grows. */
export class ProtobufBytes {
  bytes: Buffer;
  view: DataView;
  /** Bytes written. */
  length = 0;

  constructor(bytes = 1 << 16) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
    this.view = new DataView(this.bytes.buffer);
  }

  /** Makes room for so many bytes more. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
    this.view = new DataView(larger.buffer);
  }

  /** The bytes so far, a copy unless they are many; begins anew. */
  take(): Buffer {
    let taken = this.bytes.subarray(0, this.length);
    if (this.length > MANY_BYTES) {
      this.bytes = Buffer.allocUnsafeSlow(MANY_BYTES);
      this.view = new DataView(this.bytes.buffer);
    } else {
      taken = Buffer.allocUnsafeSlow(this.length);
      this.bytes.copy(taken, 0, 0, this.length);
    }
    this.length = 0;
    return taken;
  }

  /** An integer from 0 on; above 2^53 as a double says it, at most 2^64. */
  varint(value: number): void {
    this.reserve(MAX_VARINT_BYTES);
    this.#varint(value);
  }

  #varint(value: number): void {
    const { bytes } = this;
    let at = this.length;
    let rest = value;
    while (rest >= TWO_32) {
      bytes[at++] = (rest % TWO_7) | TWO_7;
      rest = Math.floor(rest / TWO_7);
    }
    let low = rest >>> 0;
    while (low >= TWO_7) {
      bytes[at++] = (low & 0x7f) | TWO_7;
      low >>>= 7;
    }
    bytes[at++] = low;
    this.length = at;
  }

  /** A field of an integer from 0 on. */
  uint(tag: number, value: number): void {
    this.reserve(2 * MAX_VARINT_BYTES);
    this.#varint(tag);
    this.#varint(value);
  }

  /** A field of 64 bits as two halves, as a varint. */
  uintOfHalves(tag: number, high: number, low: number): void {
    this.reserve(2 * MAX_VARINT_BYTES);
    this.#varint(tag);
    const { bytes } = this;
    let at = this.length;
    let [h, l] = [high >>> 0, low >>> 0];
    while (h !== 0 || l >= TWO_7) {
      bytes[at++] = (l & 0x7f) | TWO_7;
      l = ((l >>> 7) | (h << 25)) >>> 0;
      h >>>= 7;
    }
    bytes[at++] = l;
    this.length = at;
  }

  /** A field of an int64: a safe integer, or a bigint of 64 bits. */
  int(tag: number, value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.uint(tag, value);
      return;
    }
    const word = BigInt.asUintN(64, BigInt(value));
    this.uintOfHalves(tag, Number(word >> 32n), Number(word & 0xffff_ffffn));
  }

  /** A field of eight bytes, little-endian, as its halves. */
  fixed64(tag: number, high: number, low: number): void {
    this.reserve(2 * MAX_VARINT_BYTES);
    this.#varint(tag);
    this.view.setUint32(this.length, low, true);
    this.view.setUint32(this.length + 4, high, true);
    this.length += 8;
  }

  /** A fixed64 field of a bigint from 0 to 2^64 - 1. */
  fixed64Of(tag: number, value: bigint): void {
    this.reserve(2 * MAX_VARINT_BYTES);
    this.#varint(tag);
    this.view.setBigUint64(this.length, value, true);
    this.length += 8;
  }

  fixed32(tag: number, value: number): void {
    this.reserve(2 * MAX_VARINT_BYTES);
    this.#varint(tag);
    this.view.setUint32(this.length, value, true);
    this.length += 4;
  }

  double(tag: number, value: number): void {
    this.reserve(2 * MAX_VARINT_BYTES);
    this.#varint(tag);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A field of text as UTF-8; U+FFFD replaces an unpaired surrogate. */
  text(tag: number, text: string): void {
    const { length } = text;
    this.reserve(2 * MAX_VARINT_BYTES + 3 * length);
    this.#varint(tag);
    if (length <= LOOP_CHARACTERS) {
      // Up to 40 characters of ASCII have a length of one byte.
      const { bytes } = this;
      const from = this.length + 1;
      let i = 0;
      for (; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code >= TWO_7) break;
        bytes[from + i] = code;
      }
      if (i === length) {
        bytes[this.length] = length;
        this.length = from + length;
        return;
      }
    }
    const size = Buffer.byteLength(text);
    this.#varint(size);
    this.bytes.write(text, this.length, 'utf8');
    this.length += size;
  }

  /** No field: the length of a text in UTF-8 as four bytes, little-endian, and the text. */
  lengthAndText(text: string): void {
    const { length } = text;
    this.reserve(4 + 3 * length);
    const { bytes } = this;
    const from = this.length + 4;
    let size = 0;
    if (length <= LOOP_CHARACTERS) {
      for (; size < length; size++) {
        const code = text.charCodeAt(size);
        if (code >= TWO_7) break;
        bytes[from + size] = code;
      }
    }
    if (size < length) size = bytes.write(text, from, 'utf8');
    this.view.setUint32(this.length, size, true);
    this.length = from + size;
  }

  /** The same of a text in pieces. */
  lengthAndPieces(pieces: Iterable<string>): void {
    this.reserve(4);
    const from = this.length;
    this.length += 4;
    for (const piece of pieces) {
      this.reserve(Buffer.byteLength(piece));
      this.length += this.bytes.write(piece, this.length, 'utf8');
    }
    this.view.setUint32(from, this.length - from - 4, true);
  }

  /** A field of bytes. */
  octets(tag: number, octets: Uint8Array): void {
    const { length } = octets;
    this.reserve(2 * MAX_VARINT_BYTES + length);
    this.#varint(tag);
    this.#varint(length);
    this.bytes.set(octets, this.length);
    this.length += length;
  }

  /** A field of bytes in hexadecimal digits. */
  hex(tag: number, digits: string): void {
    const size = digits.length >> 1;
    this.reserve(2 * MAX_VARINT_BYTES + size);
    this.#varint(tag);
    this.#varint(size);
    const { bytes } = this;
    let at = this.length;
    // Quicker than Buffer for the few digits of an id.
    for (let i = 0; i < 2 * size; i += 2) {
      bytes[at++] = (NIBBLES[digits.charCodeAt(i)]! << 4) | NIBBLES[digits.charCodeAt(i + 1)]!;
    }
    this.length = at;
  }

  /** A field of bytes that are the first `length` of another buffer. */
  append(tag: number, { bytes, length }: ProtobufBytes): void {
    this.reserve(2 * MAX_VARINT_BYTES + length);
    this.#varint(tag);
    this.#varint(length);
    bytes.copy(this.bytes, this.length, 0, length);
    this.length += length;
  }

  /** Begins a message within this one; returns what `end` takes. */
  begin(tag: number): number {
    this.reserve(2 * MAX_VARINT_BYTES);
    this.#varint(tag);
    return ++this.length;
  }

  /** Ends the message that began there: writes its length before it. */
  end(from: number): void {
    const size = this.length - from;
    if (size < TWO_7) {
      this.bytes[from - 1] = size;
      return;
    }
    let extra = 0;
    for (let rest = size; rest >= TWO_7; rest = Math.floor(rest / TWO_7)) extra++;
    this.reserve(extra);
    const { length } = this;
    this.bytes.copyWithin(from + extra, from, length);
    this.length = from - 1;
    this.#varint(size);
    this.length = length + extra;
  }
}

/** Whether an integer is an int64 of protobuf. */
export function isInt64(value: bigint): boolean {
  return value <= MAX_INT64 && value >= MIN_INT64;
}

/** A time that is no less than 0 and no more than a u64, for fields that have no other. */
export function clampUint64(value: bigint): bigint {
  if (value < 0n) return 0n;
  return value > MAX_UINT64 ? MAX_UINT64 : value;
}
