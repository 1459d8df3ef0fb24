import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dumpLine, dumpObject } from '../../../src/heph/read/dump.js';
import { decodePacket } from '../../../src/heph/read/reader.js';
import type { Packet } from '../../../src/heph/packet.js';
import { anyEvent } from './arbitrary-packets.js';
import { encodeEpoch, encodeEvent, encodeMetadata, someEvent } from '../byte-by-byte-encoder.js';
import type { EventFields } from '../byte-by-byte-encoder.js';

const packet = (fields: Partial<EventFields>): Packet =>
  decodePacket(encodeEvent(someEvent(fields)));

const example = packet({
  substream: 1n,
  description: 'My event',
  attributes: [
    { name: 'Test', type: 'u64', value: 123n },
    { name: 'Test2', type: 'f64[]', value: [123.456, 789] },
    { name: 'path', type: 'string', value: '/a "b"' },
  ],
});

describe('dumpLine', () => {
  it('shows an event', () => {
    expect(dumpLine(example)).toBe(
      'event stream 0 substream 1 #0 100..200 ns (100 ns) "My event"' +
        ' "Test":u64=123 "Test2":f64[]=[123.456, 789] "path":string="/a \\"b\\""',
    );
  });

  it('shows the epoch as a number and a date, and other options as bytes', () => {
    expect(dumpLine(decodePacket(encodeEpoch(1610113734118010000n)))).toBe(
      'metadata "epoch" = 1610113734118010000 ns (2021-01-08T13:48:54.118010000Z)',
    );
    expect(dumpLine(decodePacket(encodeEpoch(2n ** 64n - 1n)))).toContain(
      '(2554-07-21T23:34:33.709551615Z)',
    );
    expect(dumpLine(decodePacket(encodeMetadata('colour', Buffer.of(1, 0xab))))).toBe(
      'metadata "colour" = 0x01ab',
    );
  });

  it('is one line without control characters, whatever the texts', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(dumpLine(packet(event))).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u);
      }),
    );
    expect(dumpLine(packet({ description: '\u001b[2J\u009b2J' }))).toContain(
      '"\\u001b[2J\\u009b2J"',
    );
  });
});

describe('dumpObject', () => {
  it('shows an event', () => {
    expect(dumpObject(example)).toEqual({
      kind: 'event',
      offset: 0,
      size: 106,
      stream: 0,
      counter: 0,
      substream: 1,
      start: 100,
      end: 200,
      description: 'My event',
      attributes: [
        { name: 'Test', type: 'u64', value: 123 },
        { name: 'Test2', type: 'f64[]', value: [123.456, 789] },
        { name: 'path', type: 'string', value: '/a "b"' },
      ],
    });
  });

  it('shows metadata', () => {
    expect(dumpObject(decodePacket(encodeEpoch(1610113734118010000n)))).toEqual({
      kind: 'metadata',
      offset: 0,
      size: 23,
      name: 'epoch',
      value: '1610113734118010000',
    });
    expect(dumpObject(decodePacket(encodeMetadata('colour', Buffer.of(1, 0xab))))).toMatchObject({
      name: 'colour',
      value: '01ab',
    });
  });

  it('turns to strings where a number would not be exact', () => {
    const value = (attribute: EventFields['attributes'][0]): unknown =>
      (dumpObject(packet({ attributes: [attribute] }))['attributes'] as { value: unknown }[])[0]!
        .value;
    const large = 2n ** 53n;
    expect(value({ name: '', type: 'u64', value: large - 1n })).toBe(9007199254740991);
    expect(value({ name: '', type: 'u64', value: large })).toBe('9007199254740992');
    expect(value({ name: '', type: 'i64', value: 1n - large })).toBe(-9007199254740991);
    expect(value({ name: '', type: 'i64', value: -large })).toBe('-9007199254740992');
    expect(value({ name: '', type: 'f64[]', value: [NaN, Infinity, -Infinity, 0.5] })).toEqual([
      'NaN',
      'Infinity',
      '-Infinity',
      0.5,
    ]);
  });

  it('can always be said in JSON', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const object = dumpObject(packet(event));
        expect(JSON.parse(JSON.stringify(object))).toMatchObject({
          description: event.description,
          attributes: event.attributes.map(({ name, type }) => ({ name, type })),
        });
      }),
    );
  });
});
