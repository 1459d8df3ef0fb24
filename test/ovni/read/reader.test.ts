import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TraceFormatError, TracewrightError } from '../../../src/core/errors.js';
import { StreamReader } from '../../../src/ovni/read/reader.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { decodeArguments, signatureOf } from '../../../src/ovni/read/event-arguments.js';
import type { ReadStreamOptions } from '../../../src/ovni/read/reader.js';
import { parseSignature } from '../../../src/ovni/signature.js';
import { goldenTrace } from '../golden-trace.js';
import {
  T0,
  execute,
  i32,
  jumbo,
  normal,
  streamHeader,
  temporaryFolder,
  writeFileIn,
} from '../trace-building.js';
import { codeOf, mcvOf } from '../../../src/ovni/layout.js';

interface Copy {
  offset: number;
  size: number;
  mcv: string;
  clock: bigint;
  payload: string;
  jumbo: boolean;
  dataBytes: number;
  data: string | undefined;
}

const hex = (bytes: Uint8Array | undefined): string | undefined =>
  bytes && Buffer.from(bytes).toString('hex');

/** All events of a file, copied, and the error that ended the reading. */
function readAll(path: string, options: ReadStreamOptions): { events: Copy[]; error: unknown } {
  const events: Copy[] = [];
  try {
    for (const { offset, size, mcv, clock, payload, jumbo, dataBytes, data } of readStream(
      path,
      options,
    )) {
      events.push({
        offset,
        size,
        mcv,
        clock,
        payload: hex(payload)!,
        jumbo,
        dataBytes,
        data: hex(data),
      });
    }
  } catch (error) {
    return { events, error };
  }
  return { events, error: undefined };
}

const version1 = (bytes: Uint8Array): string => writeFileIn(temporaryFolder(), 'thread.1', bytes);

describe('readStream', () => {
  test('the examples of the specification', () => {
    const example = Buffer.from(
      '004f486501c5cf1d96d01200' + '0f4f487858c1b0b59543110000000000ffffffff0000000000000000',
      'hex',
    );
    const jumboExample = Buffer.from(
      '13565963ebc14b1a96d012000e0000000100000074657374747970653100',
      'hex',
    );
    const path = version1(Buffer.concat([example, jumboExample]));
    const { events, error } = readAll(path, { version: 1, littleEndian: true });
    expect(error).toBeUndefined();
    expect(events).toMatchObject([
      { offset: 0, size: 12, mcv: 'OHe', clock: 0x0012d0961dcfc501n, payload: '', jumbo: false },
      { offset: 12, size: 28, mcv: 'OHx', payload: '00000000ffffffff0000000000000000' },
      { offset: 40, size: 30, mcv: 'VYc', jumbo: true, dataBytes: 14, payload: '0e000000' },
    ]);
    let label: unknown;
    for (const event of readStream(path, { version: 1, littleEndian: true })) {
      label = decodeArguments(event)?.['label'];
    }
    expect(label).toBe('testtype1');
  });

  test('the golden traces hold the calls of their README', () => {
    const golden = (version: 1 | 3): string => goldenTrace(version).stream;
    const calls: [string, number, object | undefined][] = [
      ['OHx', 0, { cpu: 0, tid: -1, tag: 0n }],
      ['OB.', 10, {}],
      ['OAs', 20, { cpu: 1 }],
      ['OHp', 30, {}],
      ['OHr', 40, {}],
      ['VYc', 50, { typeid: 1, label: 'testtype1' }],
      ['OM[', 60, { value: 7n, type: 3 }],
      ['OM]', 70, { value: 7n, type: 3 }],
      ['XXa', 80, undefined],
      ['XXb', 90, undefined],
      ['OHe', 100, {}],
    ];
    for (const version of [1, 3] as const) {
      const expected = calls.filter(([mcv]) => version === 3 || !mcv.startsWith('OM'));
      const read = [];
      for (const event of readStream(golden(version), { version })) {
        read.push([event.mcv, Number(event.clock - T0), decodeArguments(event)]);
      }
      expect(read).toEqual(expected);
    }
    const { events } = readAll(golden(3), { version: 3 });
    expect(events.find(({ mcv }) => mcv === 'XXa')?.payload).toBe('abcd');
    expect(events.find(({ mcv }) => mcv === 'XXb')?.payload).toBe('010203040506070809');
  });

  test('what is written is what is read, across many chunks', () => {
    const anEvent = fc.record({
      mcv: fc.string({
        unit: fc.constantFrom('O', 'H', 'x', '.', '[', ']', '=', '+'),
        minLength: 3,
        maxLength: 3,
      }),
      clock: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      payload: fc
        .uint8Array({ maxLength: 16 })
        .filter(({ length }) => length !== 1)
        .map((bytes) => Buffer.from(bytes)),
      data: fc.option(fc.integer({ min: 0, max: 300_000 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(anEvent, { maxLength: 30 }), (list) => {
        const expected: Copy[] = [];
        const parts: Buffer[] = [streamHeader()];
        let offset = 8;
        for (const { mcv, clock, payload, data } of list) {
          const content = data === undefined ? undefined : Buffer.alloc(data, mcv);
          const bytes =
            content === undefined ? normal(mcv, clock, payload) : jumbo(mcv, clock, content);
          parts.push(bytes);
          expected.push({
            offset,
            size: bytes.length,
            mcv,
            clock,
            payload: hex(content === undefined ? payload : i32(content.length))!,
            jumbo: content !== undefined,
            dataBytes: content?.length ?? 0,
            data: hex(content),
          });
          offset += bytes.length;
        }
        const path = writeFileIn(temporaryFolder(), 'stream.obs', Buffer.concat(parts));
        expect(readAll(path, { version: 3 })).toEqual({ events: expected, error: undefined });
      }),
      { numRuns: 40 },
    );
  });

  test('a file that ends anywhere gives its whole events, then an error at the cut one', () => {
    const list = [
      execute(T0),
      normal('OB.', T0),
      normal('XXa', T0, Buffer.from([1, 2])),
      jumbo('VYc', T0, Buffer.from('label')),
      normal('OHe', T0),
    ];
    const whole = Buffer.concat([streamHeader(), ...list]);
    const starts = list.map((_, at) => 8 + Buffer.concat(list.slice(0, at)).length);
    const path = writeFileIn(temporaryFolder(), 'stream.obs', whole);
    for (let size = whole.length; size >= 0; size -= 1) {
      truncateSync(path, size);
      const { events, error } = readAll(path, { version: 3 });
      const complete = [...starts.slice(1), whole.length].filter((end) => end <= size).length;
      expect(events).toHaveLength(complete);
      if (size >= 8 && (starts.includes(size) || size === whole.length)) {
        expect(error).toBeUndefined();
      } else {
        expect(error).toBeInstanceOf(TraceFormatError);
        expect(error).toMatchObject({ path, offset: size < 8 ? 0 : starts[complete] });
      }
    }
  });

  test('flipped bits give events or a typed error inside the file', () => {
    const whole = Buffer.concat([
      streamHeader(),
      ...Array.from({ length: 20 }, (_, i) => [
        execute(T0 + BigInt(i)),
        jumbo('VYc', T0, Buffer.from('type')),
        normal('OB.', T0),
      ]).flat(),
    ]);
    const folder = temporaryFolder();
    fc.assert(
      fc.property(
        fc.array(fc.nat(8 * whole.length - 1), { minLength: 1, maxLength: 6 }),
        (flips) => {
          const bytes = Buffer.from(whole);
          for (const bit of flips) bytes[bit >> 3]! ^= 1 << (bit & 7);
          const path = writeFileIn(folder, 'stream.obs', bytes);
          const { events, error } = readAll(path, { version: 3 });
          let offset = 8;
          for (const event of events) {
            expect(event.offset).toBe(offset);
            offset += event.size;
          }
          if (error === undefined) {
            expect(offset).toBe(bytes.length);
          } else {
            expect(error).toBeInstanceOf(TraceFormatError);
            expect((error as TraceFormatError).offset).toBeLessThanOrEqual(bytes.length);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a jumbo length of 4 GiB in a file of 100 bytes', () => {
    const path = version1(jumbo('VYc', T0, Buffer.alloc(84), 0xffff_ffff));
    const { events, error } = readAll(path, { version: 1 });
    expect(events).toEqual([]);
    expect(error).toMatchObject({ name: 'TraceFormatError', offset: 0 });
  });

  test('a jumbo event whose length is not said in four bytes', () => {
    const event = jumbo('VYc', T0, Buffer.from('label'));
    event[0] = 0x17;
    const { error } = readAll(version1(event), { version: 1 });
    expect(error).toMatchObject({ field: 'size', value: 7, offset: 0 });
  });

  test('jumbo data beyond the limit is passed over, not held', () => {
    const path = version1(
      Buffer.concat([
        jumbo('XXj', T0, Buffer.alloc(3 << 20, 1)),
        normal('OB.', T0),
        jumbo('XXk', T0, Buffer.from('short')),
      ]),
    );
    const { events, error } = readAll(path, { version: 1, maxDataBytes: 1 << 20 });
    expect(error).toBeUndefined();
    expect(events).toMatchObject([
      { mcv: 'XXj', dataBytes: 3 << 20, data: undefined, size: 16 + (3 << 20) },
      { mcv: 'OB.', dataBytes: 0, data: undefined },
      { mcv: 'XXk', dataBytes: 5, data: hex(Buffer.from('short')) },
    ]);
  });

  test('the header of version 3', () => {
    const folder = temporaryFolder();
    const read = (bytes: Buffer): unknown =>
      readAll(writeFileIn(folder, 'stream.obs', bytes), { version: 3 }).error;
    expect(read(streamHeader())).toBeUndefined();
    expect(read(Buffer.alloc(0))).toMatchObject({ field: 'header', offset: 0 });
    expect(read(Buffer.from('ovnX\x01\0\0\0'))).toMatchObject({ field: 'header', offset: 0 });
    expect(read(Buffer.from('ovni\x02\0\0\0'))).toMatchObject({ field: 'header', offset: 0 });
  });

  test('a stream of the other byte order says so in its header', () => {
    const event = normal('OAs', 0, Buffer.alloc(4));
    event.writeBigUInt64BE(T0, 4);
    event.writeInt32BE(-7, 12);
    const header = Buffer.from('ovni\0\0\0\x01');
    const path = writeFileIn(temporaryFolder(), 'stream.obs', Buffer.concat([header, event]));
    const reader = new StreamReader(path, { version: 3 });
    expect(reader.littleEndian).toBe(false);
    expect(reader.next()).toBe(true);
    const { clock, clockHigh, clockLow } = reader.event;
    expect({ clock, clockHigh, clockLow }).toEqual({
      clock: T0,
      clockHigh: Number(T0 >> 32n),
      clockLow: Number(T0 & 0xffff_ffffn),
    });
    expect(decodeArguments(reader.event)).toEqual({ cpu: -7 });
    reader.close();
  });

  test('a file that is not there', () => {
    const path = join(temporaryFolder(), 'thread.1');
    expect(() => [...readStream(path, { version: 1 })]).toThrow(TracewrightError);
    expect(readAll(path, { version: 1 }).error).toMatchObject({ code: 'ERR_SYSTEM' });
  });

  test('memory does not grow with the stream', () => {
    const block = Buffer.concat(Array.from({ length: 50_000 }, () => normal('OB.', T0)));
    const path = version1(Buffer.concat(Array.from({ length: 60 }, () => block)));
    const reader = new StreamReader(path, { version: 1 });
    reader.next();
    const before = process.memoryUsage().arrayBuffers;
    let count = 1;
    while (reader.next()) count += 1;
    reader.close();
    expect(count).toBe(3_000_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20);
  });
});

describe('decodeArguments', () => {
  const decode = (event: Buffer, signature?: string): unknown => {
    const reader = new StreamReader(version1(event), { version: 1 });
    reader.next();
    const decoded = decodeArguments(
      reader.event,
      signature === undefined ? undefined : parseSignature(signature),
    );
    reader.close();
    return decoded;
  };

  test('every type at its offset', () => {
    const payload = Buffer.alloc(15);
    payload.writeUInt8(200, 0);
    payload.writeInt32LE(-5, 1);
    payload.writeUInt16LE(65_535, 5);
    payload.writeBigInt64LE(-(2n ** 63n), 7);
    expect(decode(normal('XYz', T0, payload), 'XYz(u8 a, i32 b, u16 c, i64 d)')).toEqual({
      a: 200,
      b: -5,
      c: 65_535,
      d: -(2n ** 63n),
    });
    const others = Buffer.alloc(15);
    others.writeInt8(-100, 0);
    others.writeInt16LE(-300, 1);
    others.writeUInt32LE(4_000_000_000, 3);
    others.writeBigUInt64LE(2n ** 64n - 1n, 7);
    expect(decode(normal('XYz', T0, others), 'XYz(i8 a, i16 b, u32 c, u64 d)')).toEqual({
      a: -100,
      b: -300,
      c: 4_000_000_000,
      d: 2n ** 64n - 1n,
    });
  });

  test('a str ends at its NUL, or with the data', () => {
    const typeid = i32(9);
    expect(decode(jumbo('VYc', T0, Buffer.concat([typeid, Buffer.from('añ\0rest')])))).toEqual({
      typeid: 9,
      label: 'añ',
    });
    expect(decode(jumbo('VYc', T0, Buffer.concat([typeid, Buffer.from('open')])))).toEqual({
      typeid: 9,
      label: 'open',
    });
    expect(decode(jumbo('VYc', T0, typeid))).toEqual({ typeid: 9, label: '' });
  });

  test('what does not fit its signature', () => {
    expect(decode(normal('OAs', T0, Buffer.alloc(2)))).toBeUndefined();
    expect(decode(normal('OAs', T0))).toBeUndefined();
    expect(decode(normal('VYc', T0, Buffer.alloc(8)))).toBeUndefined();
    expect(decode(jumbo('OAs', T0, Buffer.alloc(4)))).toBeUndefined();
    expect(decode(jumbo('VYc', T0, Buffer.alloc(3)))).toBeUndefined();
    expect(decode(normal('XXa', T0, Buffer.alloc(2)))).toBeUndefined();
    expect(decode(normal('OB.', T0, Buffer.alloc(5)))).toEqual({});
  });
});

test('codes and MCVs stand for each other', () => {
  for (const mcv of ['OHx', 'OB.', '6W*', 'OM[']) expect(mcvOf(codeOf(mcv))).toBe(mcv);
  expect(signatureOf(codeOf('OHx'))?.args).toHaveLength(3);
  expect(signatureOf(codeOf('XXa'))).toBeUndefined();
});
