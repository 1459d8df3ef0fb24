import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TraceFormatError } from '../../../src/core/errors.js';
import { attributesAt, SIZE_OFFSET } from '../../../src/heph/layout.js';
import type { Attribute } from '../../../src/heph/packet.js';
import { PacketDecoding } from '../../../src/heph/read/packet-decoding.js';
import { attributesCondition } from '../../../src/look/condition/span-condition.js';
import { AttributeMatch, NO, YES } from '../../../src/look/index/serve/attribute-match.js';
import { KIND_MASK, STATUS_MASK, STATUS_SHIFT } from '../../../src/rows/row-flags.js';
import { UNFINISHED_BIT } from '../../../src/rows/row-flags.js';
import {
  CONTINUED,
  EVENT,
  IDENTITY_BYTES,
  IS_ARRAY,
  IS_BOOLEAN,
  IS_NULL,
  KINDS,
  LINK,
  STATUSES,
} from '../../../src/spans/layout.js';
import { HephScan } from '../../../src/spans/read/scan/heph-scan.js';
import { hashesOfAttribute } from '../../../src/spans/read/scan/attribute-hash.js';
import { SpanDecoder } from '../../../src/spans/read/span-decoder.js';
import { TraceClock } from '../../../src/spans/read/trace-clock.js';
import type { SpanRecord } from '../../../src/spans/span-record.js';
import { encodeSpan } from '../../export/span-file.js';

/** The bytes of a record are read in three ways: by the scan, the decoder, and the match of a search. */

const word = fc.oneof(
  fc.bigInt(0n, 2n ** 64n - 1n),
  fc.constantFrom(0n, 1n, 200n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n),
);
const signed = word.map((value) => BigInt.asIntN(64, value));
const double = fc.oneof(fc.double(), fc.constantFrom(404, -0, 0, 0.5, NaN, Infinity, -Infinity));
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '200', '404.0', '-0', 'true', 'null', 'NaN', '~', '~~x', 'x'.repeat(300)),
);
const name = fc.oneof(
  fc.constantFrom(
    'a',
    '',
    'http.route',
    'http.request.method',
    'http.method',
    'db.system',
    '__proto__',
  ),
  fc.constantFrom('~', '~~', '~~a', 'http.response.status_code', 'http.status_code'),
  fc.string({ unit: 'binary', maxLength: 6 }).filter((each) => !/^~[^~]$/.test(each)),
);
const modifier = (of: string): Attribute => ({ name: of, type: 'string', value: '' });

/** An attribute as a program can have it, with what modifies it. */
const attribute: fc.Arbitrary<Attribute[]> = fc.oneof(
  fc.record({ name, type: fc.constant('u64' as const), value: word }).map((each) => [each]),
  fc.record({ name, type: fc.constant('i64' as const), value: signed }).map((each) => [each]),
  fc.record({ name, type: fc.constant('f64' as const), value: double }).map((each) => [each]),
  fc.record({ name, type: fc.constant('string' as const), value: text }).map((each) => [each]),
  fc
    .record({ name, type: fc.constant('u64[]' as const), value: fc.array(word, { maxLength: 4 }) })
    .map((each) => [each]),
  fc
    .record({
      name,
      type: fc.constant('string[]' as const),
      value: fc.array(text, { maxLength: 4 }),
    })
    .map((each) => [each]),
  fc
    .tuple(name, fc.constantFrom(0n, 1n))
    .map(([own, value]): Attribute[] => [{ name: own, type: 'u64', value }, modifier(IS_BOOLEAN)]),
  fc
    .tuple(name)
    .map(([own]): Attribute[] => [{ name: own, type: 'u64', value: 0n }, modifier(IS_NULL)]),
  fc.tuple(name, text, text).map(([own, first, more]): Attribute[] => [
    { name: own, type: 'string', value: first },
    { name: CONTINUED, type: 'string', value: more },
  ]),
  fc
    .tuple(name, fc.array(text, { maxLength: 3 }))
    .map(([own, values]): Attribute[] => [
      { name: own, type: 'u64', value: BigInt(values.length) },
      modifier(IS_ARRAY),
      ...values.map((value): Attribute => ({ name: '', type: 'string', value })),
    ]),
);
/** An event of a span, or a link, whose attributes are none of the span. */
const section = fc
  .tuple(fc.constantFrom(EVENT, LINK), fc.array(attribute, { maxLength: 2 }))
  .map(([kind, own]): Attribute[] => [
    kind === EVENT
      ? { name: kind, type: 'string', value: 'event' }
      : { name: kind, type: 'u64', value: 7n },
    ...own.flat(),
  ]);
const anySpan = fc.record({
  trace: word,
  id: word,
  parent: word,
  name: text,
  thread: fc.nat(3),
  start: fc.bigInt(0n, 2n ** 50n),
  end: fc.bigInt(0n, 2n ** 50n),
  flags: fc.bigInt(0n, 0xffffn),
  attributes: fc
    .tuple(fc.array(attribute, { maxLength: 6 }), fc.array(section, { maxLength: 2 }))
    .map(([own, sections]) => [...own, ...sections].flat()),
});

/** Values as a person writes them, of which some are no value of the span. */
function* searched(span: SpanRecord): Generator<{ name: string; value: string }> {
  for (const [own, value] of Object.entries(span.attributes)) {
    for (const each of [value].flat()) {
      const shown = Object.is(each, -0) ? '-0' : String(each);
      yield { name: own, value: shown };
      yield { name: own, value: `${shown}.0` };
    }
    for (const value_ of ['', '200', '404', '404.0', '-0', '0', 'true', 'null', 'NaN']) {
      yield { name: own, value: value_ };
    }
  }
  yield { name: '', value: 'x' };
}

const viewOf = (bytes: Buffer): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

test('scan, decoder and match say the same of every record', () => {
  fc.assert(
    fc.property(anySpan, (given) => {
      const bytes = encodeSpan(given);
      const view = viewOf(bytes);
      const record = { bytes, view, position: 0, size: bytes.length, offset: 0 };
      const span = new SpanDecoder('x').decode({ ...record, packet: () => undefined })!;
      const scan = new HephScan(new TraceClock(), 0);
      scan.take(bytes, view, 0, bytes.length, 0);
      const { rows } = scan;
      expect([scan.faulty, rows.count]).toEqual([0, 1]);
      expect(scan.names.texts()[rows.name[0]!]).toBe(span.name);
      const { start, end } = span;
      expect([rows.startOf(0), rows.durationOf(0)]).toEqual([
        start,
        end > start ? end - start : 0n,
      ]);
      const flags = rows.flags[0]!;
      expect([KINDS[flags & KIND_MASK], STATUSES[(flags >> STATUS_SHIFT) & STATUS_MASK]]).toEqual([
        // Such a server is no request of its own.
        span.isNested === true ? 'internal' : span.kind,
        span.status.code,
      ]);
      expect((flags & UNFINISHED_BIT) !== 0).toBe(span.unfinished);
      const hashes = new Set(rows.hashes.subarray(0, rows.hashEnd[0]));
      for (const wanted of searched(span)) {
        const isMet = attributesCondition({ attributes: [wanted] })!(span.attributes);
        const verdict = new AttributeMatch([wanted]).inRecord({
          ...record,
          packet: () => undefined,
        });
        if (verdict === YES) expect([wanted, isMet]).toEqual([wanted, true]);
        if (verdict === NO) expect([wanted, isMet]).toEqual([wanted, false]);
        // A search skips blocks by these: what is met is never skipped.
        const mayBe = hashesOfAttribute(wanted.name, wanted.value).some((hash) => hashes.has(hash));
        const isListed = !wanted.value.startsWith('[');
        if (isMet && isListed)
          expect([wanted, mayBe || isUnderOtherName(wanted, span)]).toEqual([wanted, true]);
      }
    }),
    { numRuns: 2000 },
  );
});

test('scan and decoder find the same cut records', () => {
  fc.assert(
    fc.property(anySpan, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
      const whole = encodeSpan(given);
      const identityEnd = attributesAt(viewOf(whole), 0) + IDENTITY_BYTES;
      const size = identityEnd + Math.round(share * (whole.length - identityEnd));
      const bytes = Buffer.from(whole.subarray(0, size));
      bytes.writeUInt32BE(size, SIZE_OFFSET);
      const record = { bytes, view: viewOf(bytes), position: 0, size, offset: 0 };
      const packets = new PacketDecoding('x');
      packets.setBytes(bytes, 0);
      let isRefused = false;
      try {
        new SpanDecoder('x').decode({ ...record, packet: () => packets.decode(0, size) });
      } catch (error) {
        expect(error).toBeInstanceOf(TraceFormatError);
        isRefused = true;
      }
      for (const hashes of [true, false]) {
        const scan = new HephScan(new TraceClock(), 0, undefined, { hashes });
        scan.take(bytes, record.view, 0, size, 0);
        expect([size, scan.faulty]).toEqual([size, isRefused ? 1 : 0]);
      }
    }),
    { numRuns: 1000 },
  );
});

/** Whether another name of the same attribute has met the condition. */
function isUnderOtherName(
  { name: own, value }: { name: string; value: string },
  span: SpanRecord,
): boolean {
  const others = Object.fromEntries(
    Object.entries(span.attributes).filter(([each]) => each !== own),
  );
  return attributesCondition({ attributes: [{ name: own, value }] })!(others);
}
