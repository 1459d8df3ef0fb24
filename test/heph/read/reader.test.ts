import { appendFileSync, closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TraceFormatError, TracewrightError } from '../../../src/core/errors.js';
import { EVENT_MAGIC, METADATA_MAGIC } from '../../../src/heph/layout.js';
import type { Packet } from '../../../src/heph/packet.js';
import { decodePacket, PacketDecoder, readPackets } from '../../../src/heph/read/reader.js';
import { anyEvent } from './arbitrary-packets.js';
import {
  encodeEpoch,
  encodeEvent,
  encodeMetadata,
  someEvent,
  text,
  u64,
} from '../byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../temporary-file.js';

const directory = temporaryDirectory();

/** The metadata packet that the specification prints (section "Metadata Packet", "Example"). */
const SPECIFIED_EPOCH = Buffer.from(
  '75d11d4d 00000017 0005 65706f6368 165845e91214ec90'.replaceAll(' ', ''),
  'hex',
);

/** The event packet that the specification prints (section "Event Packet", "Example"). */
const SPECIFIED_EVENT = Buffer.from(
  [
    'c1fc1fb7 0000005b 00000000 00000000 0000000000000001',
    '0000000000000064 00000000000000c8',
    '0008 4d79206576656e74',
    '0004 54657374 01 000000000000007b',
    '0005 5465737432 83 0002 405edd2f1a9fbe77 4088a80000000000',
  ]
    .join('')
    .replaceAll(' ', ''),
  'hex',
);

const specifiedEvent = someEvent({
  substream: 1n,
  description: 'My event',
  attributes: [
    { name: 'Test', type: 'u64', value: 123n },
    { name: 'Test2', type: 'f64[]', value: [123.456, 789] },
  ],
});

function formatError(run: () => unknown): TraceFormatError {
  try {
    run();
  } catch (error) {
    if (error instanceof TraceFormatError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function withSize(packet: Buffer, size: number): Buffer {
  const copy = Buffer.from(packet);
  copy.writeUInt32BE(size, 4);
  return copy;
}

describe('decodePacket', () => {
  it('reads the metadata packet of the specification: 23 bytes', () => {
    expect(SPECIFIED_EPOCH.length).toBe(23);
    expect(decodePacket(SPECIFIED_EPOCH)).toEqual({
      kind: 'metadata',
      offset: 0,
      size: 23,
      name: 'epoch',
      value: new Uint8Array(u64(1610113734118010000n)),
      epoch: 1610113734118010000n,
    });
  });

  it('reads the event packet of the specification: 91 bytes', () => {
    expect(SPECIFIED_EVENT.length).toBe(91);
    expect(decodePacket(SPECIFIED_EVENT)).toEqual({
      kind: 'event',
      offset: 0,
      size: 91,
      ...specifiedEvent,
    });
  });

  it('refuses an event with more than a million attributes', () => {
    // Each has an empty name and is an empty array of strings.
    const one = Buffer.from('0000840000', 'hex');
    const event = encodeEvent(someEvent({ attributes: [] }));
    const packet = Buffer.concat([event, Buffer.alloc(one.length * (2 ** 20 + 1), one)]);
    const whole = withSize(packet, packet.length);
    expect(formatError(() => decodePacket(whole)).field).toBe('attributes');
  });

  it('agrees with the byte-by-byte encoder on both', () => {
    expect(encodeEpoch(1610113734118010000n)).toEqual(SPECIFIED_EPOCH);
    expect(encodeEvent(specifiedEvent)).toEqual(SPECIFIED_EVENT);
  });

  it('reads what was encoded, whatever the values', () => {
    fc.assert(
      fc.property(anyEvent, fc.nat(20), (event, offset) => {
        const bytes = encodeEvent(event);
        const packet = decodePacket(Buffer.concat([Buffer.alloc(offset), bytes]), offset);
        expect(packet).toEqual({ kind: 'event', offset, size: bytes.length, ...event });
      }),
    );
  });

  it('reads the longest texts and arrays that the format can say', () => {
    const event = someEvent({
      description: 'é'.repeat(32767),
      attributes: [
        { name: 'n'.repeat(65535), type: 'string', value: 'v'.repeat(65535) },
        { name: 'u', type: 'u64[]', value: new Array<bigint>(65535).fill(2n ** 64n - 1n) },
        { name: 's', type: 'string[]', value: new Array<string>(65535).fill('') },
      ],
    });
    expect(decodePacket(encodeEvent(event))).toMatchObject(event);
  });

  it('tells texts apart that share length and first letters', () => {
    const texts = Array.from({ length: 20000 }, (_, i) => `request ${i}`);
    const attributes = texts.map((name) => ({ name, type: 'u64' as const, value: 1n }));
    const packet = decodePacket(encodeEvent(someEvent({ attributes })));
    expect(packet.kind === 'event' && packet.attributes.map(({ name }) => name)).toEqual(texts);
  });

  it('keeps a byte order mark, which is part of the text', () => {
    expect(decodePacket(encodeEvent(someEvent({ description: '\ufeffx' })))).toMatchObject({
      description: '\ufeffx',
    });
  });

  it('leaves the value of an option that it does not know as bytes, and copies them', () => {
    const bytes = encodeMetadata('colour', Buffer.of(1, 2, 3));
    const packet = decodePacket(bytes);
    bytes.fill(0);
    expect(packet).toEqual({
      kind: 'metadata',
      offset: 0,
      size: 19,
      name: 'colour',
      value: Uint8Array.of(1, 2, 3),
    });
  });

  it('steps through a datagram of several packets', () => {
    const datagram = Buffer.concat([SPECIFIED_EPOCH, SPECIFIED_EVENT, SPECIFIED_EVENT]);
    const offsets: number[] = [];
    for (let at = 0; at < datagram.length;) {
      const packet = decodePacket(datagram, at);
      offsets.push(packet.offset);
      at = packet.offset + packet.size;
    }
    expect(offsets).toEqual([0, 23, 114]);
  });

  it('takes a plain Uint8Array that views the middle of a buffer', () => {
    const buffer = new Uint8Array(200);
    buffer.set(SPECIFIED_EVENT, 50);
    expect(decodePacket(buffer.subarray(50, 141))).toMatchObject(specifiedEvent);
  });

  it('refuses an offset outside the bytes as a wrong argument', () => {
    for (const offset of [-1, 0.5, 92, NaN]) {
      expect(() => decodePacket(SPECIFIED_EVENT, offset)).toThrow(
        expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: 'offset' }),
      );
    }
  });
});

describe('packets that are refused', () => {
  const attributeAt = 42 + 'event'.length;
  const withAttribute = (...parts: Uint8Array[]): Buffer => {
    const bytes = Buffer.concat([encodeEvent(someEvent()), text('a'), ...parts]);
    return withSize(bytes, bytes.length);
  };

  it.each([
    ['magic', Buffer.alloc(50), 'magic'],
    ['size 0', withSize(SPECIFIED_EVENT, 0), 'size'],
    ['an event of 41 bytes', withSize(SPECIFIED_EVENT, 41), 'size'],
    ['metadata of 9 bytes', withSize(SPECIFIED_EPOCH, 9), 'size'],
    ['a size beyond the end', withSize(SPECIFIED_EVENT, 92), 'size'],
    ['the largest size', withSize(SPECIFIED_EVENT, 0xffffffff), 'size'],
    ['a size that cuts an array', withSize(SPECIFIED_EVENT, 83), 'attribute 1 value'],
    ['a size that cuts a word', withSize(SPECIFIED_EVENT, 64), 'attribute 0 value'],
    ['a size that cuts a name', withSize(SPECIFIED_EVENT, 54), 'attribute 0 name'],
    ['a size that cuts the length of a name', withSize(SPECIFIED_EVENT, 51), 'attribute 0 name'],
    ['a size that cuts before the type', withSize(SPECIFIED_EVENT, 56), 'attribute 0 type'],
    ['a size that cuts the description', withSize(SPECIFIED_EVENT, 45), 'description'],
    ['a size that cuts the option name', withSize(SPECIFIED_EPOCH, 12), 'option name'],
    ['an epoch of 7 bytes', encodeMetadata('epoch', Buffer.alloc(7)), 'option value'],
    ['an epoch of 9 bytes', encodeMetadata('epoch', Buffer.alloc(9)), 'option value'],
    ['an empty epoch', encodeMetadata('epoch', Buffer.alloc(0)), 'option value'],
    ['type 0', withAttribute(Buffer.of(0), u64(1n)), 'attribute 0 type'],
    ['type 5', withAttribute(Buffer.of(5), u64(1n)), 'attribute 0 type'],
    ['type 0x41', withAttribute(Buffer.of(0x41), u64(1n)), 'attribute 0 type'],
    ['an array of no type', withAttribute(Buffer.of(0x80, 0, 0)), 'attribute 0 type'],
    ['an array of type 5', withAttribute(Buffer.of(0x85, 0, 0)), 'attribute 0 type'],
    ['an array without a count', withAttribute(Buffer.of(0x81, 0)), 'attribute 0 value'],
    [
      'an array count too large',
      withAttribute(Buffer.of(0x81, 0, 2), u64(1n)),
      'attribute 0 value',
    ],
    [
      'strings missing in an array',
      withAttribute(Buffer.of(0x84, 0xff, 0xff)),
      'attribute 0 value',
    ],
    ['a string beyond the end', withAttribute(Buffer.of(4, 0, 2, 65)), 'attribute 0 value'],
    [
      'UTF-8: a lone continuation byte',
      withAttribute(Buffer.of(4, 0, 1, 0x80)),
      'attribute 0 value',
    ],
    [
      'UTF-8: a surrogate',
      withAttribute(Buffer.of(4, 0, 3, 0xed, 0xa0, 0x80)),
      'attribute 0 value',
    ],
    ['UTF-8: an overlong form', withAttribute(Buffer.of(4, 0, 2, 0xc0, 0x80)), 'attribute 0 value'],
    [
      'UTF-8: above U+10FFFF',
      withAttribute(Buffer.of(4, 0, 4, 0xf4, 0x90, 0x80, 0x80)),
      'attribute 0 value',
    ],
    ['UTF-8 in the option name', encodeMetadata('é', u64(1n)).fill(0xff, 10, 12), 'option name'],
  ])('%s', (_, bytes, field) => {
    const error = formatError(() => decodePacket(bytes, 0, 'somewhere'));
    expect(error).toMatchObject({ code: 'ERR_TRACE_FORMAT', path: 'somewhere', offset: 0, field });
    expect(error.limit).toBeTypeOf('string');
  });

  it('says where in the packet the fault is', () => {
    const { message } = formatError(() => decodePacket(withAttribute(Buffer.of(0x80, 0, 0))));
    expect(message).toContain(`(${attributeAt + 3} bytes into the packet)`);
  });

  it('a packet that is cut after any byte', () => {
    for (const packet of [SPECIFIED_EPOCH, SPECIFIED_EVENT]) {
      for (let length = 0; length < packet.length; length++) {
        const cut = packet.subarray(0, length);
        expect(formatError(() => decodePacket(cut)).offset).toBe(0);
        // The same with a size field that agrees with the cut. A cut between two attributes leaves
        // a whole packet.
        if (length < 8 || (packet === SPECIFIED_EVENT && (length === 50 || length === 65)))
          continue;
        expect(formatError(() => decodePacket(withSize(cut, length))).offset).toBe(0);
      }
    }
    expect(decodePacket(withSize(SPECIFIED_EVENT.subarray(0, 65), 65))).toMatchObject({ size: 65 });
  });

  it('nothing but a TraceFormatError comes out of flipped bits', () => {
    fc.assert(
      fc.property(
        anyEvent,
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1 }),
        (event, flips) => {
          const bytes = encodeEvent(event);
          for (const [place, mask] of flips) bytes[place % bytes.length]! ^= mask;
          try {
            const packet = decodePacket(bytes);
            expect(packet.size).toBeLessThanOrEqual(bytes.length);
          } catch (error) {
            expect(error).toBeInstanceOf(TraceFormatError);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('nothing but a TraceFormatError comes out of random bytes behind a right head', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(EVENT_MAGIC, METADATA_MAGIC),
        fc.uint8Array({ minLength: 34, maxLength: 300 }),
        (magic, body) => {
          const head = Buffer.alloc(8);
          head.writeUInt32BE(magic);
          head.writeUInt32BE(8 + body.length, 4);
          try {
            expect(decodePacket(Buffer.concat([head, body])).size).toBe(8 + body.length);
          } catch (error) {
            expect(error).toBeInstanceOf(TraceFormatError);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('readPackets', () => {
  it('reads a file of several stretches, each packet at its offset', () => {
    const parts: Buffer[] = [encodeEpoch(5n)];
    for (let counter = 0; counter < 20000; counter++) {
      parts.push(encodeEvent(someEvent({ counter, description: 'x'.repeat(counter % 97) })));
    }
    const path = writeTrace(directory, 'several.heph', ...parts);
    let offset = 0;
    let index = 0;
    for (const packet of readPackets(path)) {
      expect([packet.offset, packet.size]).toEqual([offset, parts[index]!.length]);
      if (packet.kind === 'event') {
        expect([packet.counter, packet.description.length]).toEqual([index - 1, (index - 1) % 97]);
      }
      offset += packet.size;
      index++;
    }
    expect(index).toBe(20001);
  });

  it('reads a packet larger than a stretch and than the window', () => {
    const strings = new Array<string>(40).fill('v'.repeat(60000));
    const large = someEvent({ attributes: [{ name: 'a', type: 'string[]', value: strings }] });
    const path = writeTrace(
      directory,
      'large.heph',
      encodeEvent(someEvent()),
      encodeEvent(large),
      encodeEvent(someEvent({ counter: 2 })),
    );
    const packets = [...readPackets(path)];
    expect(packets[1]).toMatchObject(large);
    expect(packets[2]).toMatchObject({ counter: 2, offset: 47 + packets[1]!.size });
  });

  it('yields nothing for an empty file', () => {
    expect([...readPackets(writeTrace(directory, 'empty.heph'))]).toEqual([]);
  });

  it('tells how far it is, up to the whole file', () => {
    const path = writeTrace(
      directory,
      'progress.heph',
      ...Array.from({ length: 8000 }, () => encodeEvent(specifiedEvent)),
    );
    const told: [number, number][] = [];
    for (const packet of readPackets(path, { onProgress: (...args) => told.push(args) })) {
      expect(packet.size).toBe(91);
    }
    expect(told.length).toBeGreaterThan(2);
    expect(told).toEqual([...told].sort(([a], [b]) => a - b));
    expect(told.at(-1)).toEqual([8000 * 91, 8000 * 91]);
  });

  it('yields the packets in front of a fault, then throws with its place in the file', () => {
    const path = writeTrace(
      directory,
      'fault.heph',
      SPECIFIED_EPOCH,
      SPECIFIED_EVENT,
      SPECIFIED_EVENT.subarray(0, 90),
    );
    const seen: Packet[] = [];
    const error = formatError(() => {
      for (const packet of readPackets(path)) seen.push(packet);
    });
    expect(seen.map(({ kind }) => kind)).toEqual(['metadata', 'event']);
    expect(error).toMatchObject({ path, offset: 114, field: 'size', value: 91 });
  });

  it.each([1, 7])('throws for %i bytes behind the last packet', (left) => {
    const path = writeTrace(
      directory,
      `tail-${left}.heph`,
      SPECIFIED_EVENT,
      SPECIFIED_EVENT.subarray(0, left),
    );
    expect(formatError(() => [...readPackets(path)])).toMatchObject({ offset: 91 });
  });

  it('refuses an absurd size in a large sparse file without holding it', () => {
    const path = join(directory, 'sparse.heph');
    const fd = openSync(path, 'w');
    writeSync(fd, withSize(SPECIFIED_EVENT, 0xffffffff));
    ftruncateSync(fd, 2 ** 33);
    closeSync(fd);
    const before = process.memoryUsage().rss;
    expect(formatError(() => [...readPackets(path)])).toMatchObject({ offset: 0, field: 'size' });
    expect(process.memoryUsage().rss - before).toBeLessThan(100 << 20);
  });

  it('refuses what is larger than the limit that was set', () => {
    const path = writeTrace(directory, 'limit.heph', SPECIFIED_EVENT);
    expect([...readPackets(path, { maxPacketBytes: 91 })]).toHaveLength(1);
    expect(formatError(() => [...readPackets(path, { maxPacketBytes: 90 })]).field).toBe('size');
  });

  it('reads a file up to where it ended when it was opened', () => {
    const path = writeTrace(directory, 'growing.heph', SPECIFIED_EVENT);
    const packets = readPackets(path);
    expect(packets.next().done).toBe(false);
    appendFileSync(path, SPECIFIED_EVENT);
    expect(packets.next().done).toBe(true);
  });
});

describe('PacketDecoder', () => {
  const cut = (bytes: Buffer, places: number[]): Buffer[] => {
    const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))];
    ends.sort((a, b) => a - b);
    ends.push(bytes.length);
    let start = 0;
    return ends.map((end) => {
      const piece = bytes.subarray(start, end);
      start = end;
      return piece;
    });
  };

  it('yields the same packets however the stream is cut', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        (events, places) => {
          const encoded = events.map(encodeEvent);
          const decoder = new PacketDecoder();
          const packets: Packet[] = [];
          for (const piece of cut(Buffer.concat(encoded), places)) {
            const copy = Buffer.from(piece);
            packets.push(...decoder.push(copy));
            copy.fill(0xaa);
          }
          decoder.end();
          let offset = 0;
          expect(packets).toEqual(
            events.map((event, i) => {
              const size = encoded[i]!.length;
              offset += size;
              return { kind: 'event', offset: offset - size, size, ...event };
            }),
          );
          expect(decoder.pendingBytes).toBe(0);
        },
      ),
    );
  });

  it('takes a stream byte by byte', () => {
    const decoder = new PacketDecoder();
    const stream = Buffer.concat([SPECIFIED_EPOCH, SPECIFIED_EVENT, SPECIFIED_EVENT]);
    const packets = [...stream].flatMap((byte) => decoder.push(Uint8Array.of(byte)));
    expect(packets.map(({ offset }) => offset)).toEqual([0, 23, 114]);
  });

  it('returns the packets in front of a fault, then stays at the fault', () => {
    const decoder = new PacketDecoder('10.0.0.1:7000');
    expect(decoder.push(SPECIFIED_EPOCH)).toHaveLength(1);
    expect(decoder.push(Buffer.concat([SPECIFIED_EVENT, Buffer.alloc(8)]))).toHaveLength(1);
    const fault = { path: '10.0.0.1:7000', offset: 114, field: 'magic' };
    expect(formatError(() => decoder.push(SPECIFIED_EVENT))).toMatchObject(fault);
    expect(formatError(() => decoder.push(SPECIFIED_EVENT))).toMatchObject(fault);
    expect(
      formatError(() => {
        decoder.end();
      }),
    ).toMatchObject(fault);
  });

  it('throws at once for a fault with nothing in front of it', () => {
    const decoder = new PacketDecoder();
    expect(decoder.push(Buffer.alloc(7))).toEqual([]);
    expect(formatError(() => decoder.push(Buffer.alloc(1)))).toMatchObject({ field: 'magic' });
  });

  it('refuses an absurd size as soon as the head is there', () => {
    const decoder = new PacketDecoder();
    const head = withSize(SPECIFIED_EVENT, 0xffffffff).subarray(0, 8);
    expect(formatError(() => decoder.push(head))).toMatchObject({ field: 'size' });
    expect(decoder.pendingBytes).toBeLessThanOrEqual(8);
  });

  it('holds no more than has arrived of a packet that says to be large', () => {
    const decoder = new PacketDecoder();
    expect(decoder.push(withSize(SPECIFIED_EVENT, 60 << 20))).toEqual([]);
    expect(decoder.pendingBytes).toBe(91);
  });

  it('throws at the end of a stream that ends inside a packet', () => {
    for (const length of [1, 8, 90]) {
      const decoder = new PacketDecoder();
      decoder.push(SPECIFIED_EPOCH);
      decoder.push(SPECIFIED_EVENT.subarray(0, length));
      expect(
        formatError(() => {
          decoder.end();
        }),
      ).toMatchObject({ offset: 23 });
    }
  });

  it('is a TracewrightError like all others', () => {
    expect(() => new PacketDecoder().push(Buffer.alloc(8))).toThrow(TracewrightError);
  });
});
