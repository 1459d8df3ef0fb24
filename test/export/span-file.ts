import type { Attribute } from '../../src/heph/packet.js';
import { encodeEvent, someEvent } from '../heph/byte-by-byte-encoder.js';

/** A span as the contract says it, with whatever ids and times a hostile file can have. */
export interface HandmadeSpan {
  trace?: bigint;
  id: bigint;
  parent?: bigint;
  name?: string;
  thread?: number;
  start: bigint;
  end: bigint;
  /** The bits of `~f`. */
  flags?: bigint;
  attributes?: Attribute[];
}

const u64 = (name: string, value: bigint): Attribute => ({ name, type: 'u64', value });

/** The bytes of a span. Its attribute `length` says how long it is drawn. */
export function encodeSpan(span: HandmadeSpan): Buffer {
  const { trace = 1n, id, parent = 0n, name = `span ${id}`, thread = 0, start, end } = span;
  return encodeEvent(
    someEvent({
      stream: thread,
      substream: trace,
      start,
      end,
      description: name,
      attributes: [
        u64('~t', 0x0123_4567_89ab_cdefn),
        u64('~s', id),
        u64('~p', parent),
        u64('~f', span.flags ?? 1n),
        u64('length', end > start ? end - start : 0n),
        ...(span.attributes ?? []),
      ],
    }),
  );
}

/** The resource 1 of a file: flags of its spans have the bit 16. */
export function encodeResource(attributes: Record<string, string | bigint>): Buffer {
  return encodeEvent(
    someEvent({
      stream: 0xffff_ffff,
      counter: 1,
      description: 'tracewright.resource',
      attributes: [
        u64('~v', 1n),
        ...Object.entries(attributes).map(([name, value]): Attribute =>
          typeof value === 'string' ? { name, type: 'string', value } : u64(name, value),
        ),
      ],
    }),
  );
}

/** Numbers that look random and are the same in every run. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Of a span that is wide without reason: work for each pair of them would take minutes. */
export const MANY_ATTRIBUTES = Number(process.env['TRACEWRIGHT_TEST_ATTRIBUTES'] ?? 200_000);

/** The bytes of so many integer attributes: `attribute 0` and so on. */
export function manyAttributes(count: number): Buffer {
  const bytes = Buffer.alloc(32 * count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const name = `attribute ${i}`;
    at = bytes.writeUInt16BE(name.length, at);
    at += bytes.write(name, at, 'latin1');
    at = bytes.writeUInt8(1, at);
    at = bytes.writeBigUInt64BE(BigInt(i), at);
  }
  return bytes.subarray(0, at);
}

/** An event with the bytes of further attributes. */
export function withAttributes(event: Buffer, attributes: Buffer): Buffer {
  const bytes = Buffer.concat([event, attributes]);
  bytes.writeUInt32BE(bytes.length, 4);
  return bytes;
}
