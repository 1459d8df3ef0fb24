import { TraceFormatError } from '../../core/errors.js';
import { limitFrom } from '../../core/options/argument.js';
import { AttributeCursor } from '../attribute-cursor.js';
import {
  attributesAt,
  COUNTER_OFFSET,
  DEFAULT_MAX_PACKET_BYTES,
  END_OFFSET,
  EPOCH_OPTION,
  LENGTH_BYTES,
  MAX_ATTRIBUTES,
  MIN_EVENT_BYTES,
  nameAt,
  OPTION_NAME_OFFSET,
  PACKET_HEAD_BYTES,
  SIZE_OFFSET,
  START_OFFSET,
  STREAM_OFFSET,
  SUBSTREAM_OFFSET,
  TYPE_ARRAY,
  TYPE_F64,
  TYPE_I64,
  TYPE_STRING,
  TYPE_U64,
  WORD_BYTES,
} from '../layout.js';
import type { Attribute, EventPacket, MetadataPacket, Packet, ValueType } from '../packet.js';
import {
  EVENT_BYTES,
  isEventAt,
  isPacketAt,
  METADATA_BYTES,
  MIN_METADATA_BYTES,
} from './packet-head.js';
import { TextDecoding } from './text-decoding.js';

/** The names of the types, by the byte that says the type. */
const TYPES: ValueType[] = [];
TYPES[TYPE_U64] = 'u64';
TYPES[TYPE_I64] = 'i64';
TYPES[TYPE_F64] = 'f64';
TYPES[TYPE_STRING] = 'string';
const ARRAY_TYPES = TYPES.map((type) => `${type}[]` as const);

/**
 * Decodes packets of one source. Everything that it is given may be hostile: a length is compared
 * with what the packet holds before anything is allocated for it.
 */
export class PacketDecoding {
  readonly #source: string;
  readonly #maxPacketBytes: number;
  readonly #texts = new TextDecoding();
  readonly #attributes = new AttributeCursor();
  #bytes: Buffer = Buffer.alloc(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Offset in the source of the first of #bytes. */
  #base = 0;
  /** Positions in #bytes: the packet being decoded, and its end. */
  #packet = 0;
  #end = 0;

  /**
   * @param source Names the file, datagram or connection in errors.
   * @param maxPacketBytes Larger packets are refused.
   */
  constructor(source: string, maxPacketBytes = DEFAULT_MAX_PACKET_BYTES) {
    this.#source = source;
    this.#maxPacketBytes = limitFrom('maxPacketBytes', maxPacketBytes, 1);
  }

  /** Sets the bytes that `size` and `decode` look at; `base` is the offset of their first byte. */
  setBytes(bytes: Uint8Array, base: number): void {
    this.#bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#base = base;
  }

  /**
   * The size of the packet at position `at`, from its head alone (the caller has seen to it that 8
   * bytes are there).
   *
   * @param remaining Bytes from `at` to the end of the source, where that is known.
   * @throws TraceFormatError for an unknown magic, a size too small for the kind of packet, larger
   *   than `remaining`, or larger than the limit.
   */
  size(at: number, remaining = Infinity): number {
    this.#packet = at;
    const magic = this.#view.getUint32(at);
    if (!isPacketAt(this.#view, at)) {
      this.#fail(
        at,
        'magic',
        `no packet begins with 0x${hex(magic, 8)}`,
        magic,
        `0x${EVENT_BYTES.toString('hex')} (event) or 0x${METADATA_BYTES.toString('hex')} (metadata)`,
      );
    }
    const size = this.#view.getUint32(at + SIZE_OFFSET);
    const isEvent = isEventAt(this.#view, at);
    const kind = isEvent ? 'event' : 'metadata';
    const least = isEvent ? MIN_EVENT_BYTES : MIN_METADATA_BYTES;
    if (size < least) {
      const message = `${size} bytes are too few for a packet of kind "${kind}"`;
      this.#fail(at + SIZE_OFFSET, 'size', message, size, `at least ${least}`);
    }
    if (size > remaining) {
      const message = `the ${kind} packet says ${size} bytes, ${remaining} are left`;
      this.#fail(at + SIZE_OFFSET, 'size', message, size, `at most ${remaining}`);
    }
    if (size > this.#maxPacketBytes) {
      const message = `the ${kind} packet says ${size} bytes, more than the reader's limit`;
      this.#fail(at + SIZE_OFFSET, 'size', message, size, `at most ${this.#maxPacketBytes}`);
    }
    return size;
  }

  /**
   * The packet at position `at`, whose `size` bytes are all there.
   *
   * @throws TraceFormatError where the content and the size do not agree, for an unknown value
   *   type and for text that is not UTF-8.
   */
  decode(at: number, size: number): Packet {
    this.#packet = at;
    this.#end = at + size;
    return isEventAt(this.#view, at) ? this.#event(at) : this.#metadata(at);
  }

  /** The event at position `at` without its attributes, which `attributes` yields. Errors as of `decode`. */
  eventHead(at: number, size: number): EventPacket {
    this.#packet = at;
    this.#end = at + size;
    return this.#head(at);
  }

  /**
   * Decodes the value of the attribute that `attributes` has yielded last, whenever it is called.
   *
   * @param from as `position` was before that attribute.
   */
  againAt(from: number): () => Attribute['value'] {
    const again = new PacketDecoding(this.#source, this.#maxPacketBytes);
    again.setBytes(this.#bytes, this.#base);
    const end = this.#end;
    return () => {
      again.#attributes.set(again.#view, from, end);
      return again.#attribute(0).value;
    };
  }

  /** Where the next attribute begins in the bytes. */
  get position(): number {
    return this.#attributes.at;
  }

  /** One by one, what follows the event that `eventHead` has returned last. Errors as of `decode`. */
  *attributes(): Generator<Attribute, void> {
    for (let index = 0; this.position < this.#end; index++) yield this.#attribute(index);
  }

  /** The error for a source that ends inside the eight bytes of a packet's head. */
  headCut(at: number, left: number): TraceFormatError {
    this.#packet = at;
    const message = `the head of a packet takes ${PACKET_HEAD_BYTES} bytes, ${left} are left`;
    return this.#error(at, 'magic', message, left, `${PACKET_HEAD_BYTES} bytes`);
  }

  #metadata(at: number): MetadataPacket {
    const optionAt = at + OPTION_NAME_OFFSET;
    const name = this.#text('option name', optionAt);
    const valueAt = optionAt + LENGTH_BYTES + this.#view.getUint16(optionAt);
    const value = Uint8Array.from(this.#bytes.subarray(valueAt, this.#end));
    const packet: MetadataPacket = {
      kind: 'metadata',
      offset: this.#base + at,
      size: this.#end - at,
      name,
      value,
    };
    if (name === EPOCH_OPTION) {
      if (value.length !== WORD_BYTES) {
        const message = `the epoch has ${value.length} bytes`;
        this.#fail(valueAt, 'option value', message, value.length, `${WORD_BYTES} bytes`);
      }
      packet.epoch = this.#view.getBigUint64(valueAt);
    }
    return packet;
  }

  #event(at: number): EventPacket {
    const event = this.#head(at);
    const { attributes } = event;
    while (this.position < this.#end) attributes.push(this.#attribute(attributes.length));
    return event;
  }

  #head(at: number): EventPacket {
    const view = this.#view;
    const description = this.#text('description', nameAt(at));
    this.#attributes.set(view, attributesAt(view, at), this.#end);
    return {
      kind: 'event',
      offset: this.#base + at,
      size: this.#end - at,
      stream: view.getUint32(at + STREAM_OFFSET),
      counter: view.getUint32(at + COUNTER_OFFSET),
      substream: view.getBigUint64(at + SUBSTREAM_OFFSET),
      start: view.getBigUint64(at + START_OFFSET),
      end: view.getBigUint64(at + END_OFFSET),
      description,
      attributes: [],
    };
  }

  #attribute(index: number): Attribute {
    const attributes = this.#attributes;
    if (index === MAX_ATTRIBUTES) {
      const most = `at most ${MAX_ATTRIBUTES}`;
      this.#fail(attributes.at, 'attributes', 'the event has more attributes', undefined, most);
    }
    if (!attributes.next()) this.#refuse(index);
    const { nameStart, nameEnd, type, isArray, count } = attributes;
    const name = this.#decoded(nameStart, nameEnd, 'name', index);
    if (!isArray) return { name, type: TYPES[type], value: this.#value(type, index) } as Attribute;
    const values = new Array<unknown>(count);
    for (let i = 0; attributes.nextElement(); i++) values[i] = this.#value(type, index);
    return { name, type: ARRAY_TYPES[type], value: values } as Attribute;
  }

  /** The value that the cursor is at, or the element. */
  #value(type: number, index: number): bigint | number | string {
    const { valueStart, valueEnd } = this.#attributes;
    switch (type) {
      case TYPE_U64:
        return this.#view.getBigUint64(valueStart);
      case TYPE_I64:
        return this.#view.getBigInt64(valueStart);
      case TYPE_F64:
        return this.#view.getFloat64(valueStart);
      default:
        return this.#decoded(valueStart, valueEnd, 'value', index);
    }
  }

  /** Throws what is wrong with an attribute. */
  #refuse(index: number): never {
    const { fault, nameStart, nameEnd } = this.#attributes;
    const { part, at, needed } = fault!;
    // The first fault of the packet is the one that counts.
    if (part !== 'name') this.#decoded(nameStart, nameEnd, 'name', index);
    if (needed > 0) this.#short(part, index, at, needed);
    const type = this.#bytes[at]!;
    this.#fail(
      at,
      field('type', index),
      type === TYPE_ARRAY
        ? `attribute ${index} is an array of no type (0x80)`
        : `attribute ${index} has the unknown type 0x${hex(type, 2)}`,
      type,
      '1 (u64), 2 (i64), 3 (f64) or 4 (string), or-ed with 0x80 for an array',
    );
  }

  /** Reads a length and that many bytes of UTF-8, outside the attributes. */
  #text(part: string, at: number): string {
    if (this.#end - at < LENGTH_BYTES) this.#short(part, -1, at, LENGTH_BYTES);
    const start = at + LENGTH_BYTES;
    const stop = start + this.#view.getUint16(at);
    if (stop > this.#end) this.#short(part, -1, at, stop - at);
    return this.#decoded(start, stop, part, -1);
  }

  /** @param index of the attribute; -1: it is no part of one. */
  #decoded(start: number, stop: number, part: string, index: number): string {
    const text = this.#texts.decode(this.#bytes, start, stop);
    if (text === undefined) {
      const name = field(part, index);
      this.#fail(start, name, `the ${name} is not valid UTF-8`, undefined, 'UTF-8');
    }
    return text;
  }

  #short(part: string, index: number, at: number, needed: number): never {
    const left = this.#end - at;
    const name = field(part, index);
    const message = `the ${name} takes ${needed} bytes, the packet has ${left} left`;
    this.#fail(at, name, message, needed, `at most ${left}`);
  }

  #fail(at: number, name: string, message: string, value: unknown, limit: string): never {
    throw this.#error(at, name, message, value, limit);
  }

  #error(
    at: number,
    name: string,
    message: string,
    value: unknown,
    limit: string,
  ): TraceFormatError {
    const inside = at - this.#packet;
    const where = inside === 0 ? '' : ` (${inside} bytes into the packet)`;
    return new TraceFormatError(
      this.#source,
      this.#base + this.#packet,
      `${message}; want ${limit}${where}`,
      { field: name, value, limit },
    );
  }
}

function field(part: string, index: number): string {
  return index < 0 ? part : `attribute ${index} ${part}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
