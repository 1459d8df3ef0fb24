import {
  COUNTER_OFFSET,
  DESCRIPTION_OFFSET,
  END_OFFSET,
  EVENT_MAGIC,
  METADATA_MAGIC,
  SIZE_OFFSET,
  START_OFFSET,
  STREAM_OFFSET,
  SUBSTREAM_OFFSET,
  TYPE_ARRAY,
  TYPE_F64,
  TYPE_I64,
  TYPE_STRING,
  TYPE_U64,
} from '../../src/heph/layout.js';
import type { Attribute, EventPacket } from '../../src/heph/packet.js';

/**
 * A second, slow encoder that says every packet of the format in the plainest way, for tests to
 * hold the reader and the writer against.
 */

const TYPES = { u64: TYPE_U64, i64: TYPE_I64, f64: TYPE_F64, string: TYPE_STRING };

/** What an event says, without where it stands. */
export type EventFields = Omit<EventPacket, 'kind' | 'offset' | 'size'>;

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

export function text(value: string): Buffer {
  const utf8 = Buffer.from(value, 'utf8');
  return Buffer.concat([u16(utf8.length), utf8]);
}

function single(type: string, value: bigint | number | string): Buffer {
  if (typeof value === 'string') return text(value);
  const bytes = Buffer.alloc(8);
  if (typeof value === 'number') bytes.writeDoubleBE(value);
  else if (type.startsWith('u64')) bytes.writeBigUInt64BE(value);
  else bytes.writeBigInt64BE(value);
  return bytes;
}

function encodeAttribute({ name, type, value }: Attribute): Buffer {
  const code = TYPES[type.replace('[]', '') as keyof typeof TYPES];
  if (!Array.isArray(value)) {
    return Buffer.concat([text(name), Buffer.of(code), single(type, value)]);
  }
  return Buffer.concat([
    text(name),
    Buffer.of(TYPE_ARRAY | code),
    u16(value.length),
    ...value.map((item) => single(type, item)),
  ]);
}

export function encodeMetadata(name: string, value: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  const body = Buffer.concat([text(name), value]);
  head.writeUInt32BE(METADATA_MAGIC);
  head.writeUInt32BE(head.length + body.length, SIZE_OFFSET);
  return Buffer.concat([head, body]);
}

export function encodeEpoch(epoch: bigint): Buffer {
  return encodeMetadata('epoch', u64(epoch));
}

export function encodeEvent(event: EventFields): Buffer {
  const fixed = Buffer.alloc(DESCRIPTION_OFFSET);
  const rest = Buffer.concat([text(event.description), ...event.attributes.map(encodeAttribute)]);
  fixed.writeUInt32BE(EVENT_MAGIC);
  fixed.writeUInt32BE(fixed.length + rest.length, SIZE_OFFSET);
  fixed.writeUInt32BE(event.stream, STREAM_OFFSET);
  fixed.writeUInt32BE(event.counter, COUNTER_OFFSET);
  fixed.writeBigUInt64BE(event.substream, SUBSTREAM_OFFSET);
  fixed.writeBigUInt64BE(event.start, START_OFFSET);
  fixed.writeBigUInt64BE(event.end, END_OFFSET);
  return Buffer.concat([fixed, rest]);
}

/** An event of which a test says only what matters to it. */
export function someEvent(fields: Partial<EventFields> = {}): EventFields {
  return {
    stream: 0,
    counter: 0,
    substream: 0n,
    start: 100n,
    end: 200n,
    description: 'event',
    attributes: [],
    ...fields,
  };
}
