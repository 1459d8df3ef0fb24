import fc from 'fast-check';
import type { Attribute } from '../../../src/heph/packet.js';
import type { EventFields } from '../byte-by-byte-encoder.js';

/** Random events that the format can say, with values at the edges of every type. */

const u64 = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.constantFrom(0n, 2n ** 53n, 2n ** 64n - 1n));
const i64 = fc.oneof(
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.constantFrom(-(2n ** 63n), -1n, 2n ** 63n - 1n),
);
const u32 = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 0xffff_ffff));
const f64 = fc.double();
/** Whole code points, so that encoding and decoding give the same string. */
export const anyText = fc.string({ unit: 'binary', maxLength: 80 });

const attribute: fc.Arbitrary<Attribute> = fc.oneof(
  fc.record({ name: anyText, type: fc.constant('u64' as const), value: u64 }),
  fc.record({ name: anyText, type: fc.constant('i64' as const), value: i64 }),
  fc.record({ name: anyText, type: fc.constant('f64' as const), value: f64 }),
  fc.record({ name: anyText, type: fc.constant('string' as const), value: anyText }),
  fc.record({ name: anyText, type: fc.constant('u64[]' as const), value: fc.array(u64) }),
  fc.record({ name: anyText, type: fc.constant('i64[]' as const), value: fc.array(i64) }),
  fc.record({ name: anyText, type: fc.constant('f64[]' as const), value: fc.array(f64) }),
  fc.record({ name: anyText, type: fc.constant('string[]' as const), value: fc.array(anyText) }),
);

export const anyEvent: fc.Arbitrary<EventFields> = fc.record({
  stream: u32,
  counter: u32,
  substream: u64,
  start: u64,
  end: u64,
  description: anyText,
  attributes: fc.array(attribute, { maxLength: 6 }),
});
