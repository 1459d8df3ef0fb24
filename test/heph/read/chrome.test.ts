import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChromeEvent } from '../../../src/core/chrome-event.js';
import { TraceFormatError } from '../../../src/core/errors.js';
import { chromeEvents } from '../../../src/heph/read/chrome.js';
import type { ChromeOptions } from '../../../src/heph/read/chrome.js';
import { readEpoch } from '../../../src/heph/read/epoch.js';
import { anyEvent } from './arbitrary-packets.js';
import { encodeEpoch, encodeEvent, encodeMetadata, someEvent } from '../byte-by-byte-encoder.js';
import type { EventFields } from '../byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../temporary-file.js';

const directory = temporaryDirectory();
const epoch = encodeEpoch(1610113734118010000n);
const event = (fields: Partial<EventFields> = {}): Buffer => encodeEvent(someEvent(fields));

function convert(parts: Uint8Array[], options?: ChromeOptions): ChromeEvent[] {
  return [...chromeEvents(writeTrace(directory, 'converted.heph', ...parts), options)];
}

const drawn = (parts: Uint8Array[]): ChromeEvent[] => convert(parts).filter(({ ph }) => ph !== 'M');

function threads(events: ChromeEvent[]): Record<number, unknown> {
  const names = events.filter(({ name }) => name === 'thread_name');
  return Object.fromEntries(names.map(({ tid, args }) => [tid, args!['name']]));
}

describe('chromeEvents', () => {
  it('names the process, its epoch and its threads', () => {
    const events = convert([epoch, event({ stream: 0 }), event({ stream: 2 ** 32 - 1 })]);
    const metadata = events.filter(({ ph }) => ph === 'M');
    expect(metadata[0]).toMatchObject({ name: 'process_name', ts: 0, pid: 1 });
    expect(metadata[1]).toMatchObject({
      name: 'process_labels',
      args: {
        labels: 'time 0 is 2021-01-08T13:48:54.118010000Z (1610113734118010000 ns since 1970)',
      },
    });
    expect(threads(events)).toEqual({ 1: 'stream 0', 2: 'stream 4294967295' });
  });

  it('says when there is no epoch, and finds one that comes late', () => {
    const labels = (parts: Uint8Array[]): unknown => convert(parts)[1]!.args!['labels'];
    expect(labels([event()])).toContain('sets no epoch');
    expect(labels([event(), epoch])).toContain('2021-01-08');
  });

  it('draws substream 0 on the thread of its stream, in microseconds', () => {
    const attributes = [
      { name: 'method', type: 'string' as const, value: 'GET "/"' },
      { name: 'size', type: 'u64' as const, value: 2n ** 60n },
      { name: 'delta', type: 'i64' as const, value: -3n },
      { name: 'ids', type: 'u64[]' as const, value: [1n, 2n ** 64n - 1n] },
    ];
    expect(drawn([epoch, event({ start: 1_234_567n, end: 1_234_890n, attributes })])).toEqual([
      {
        name: 'event',
        cat: 'heph',
        ph: 'X',
        ts: 1234.567,
        dur: 0.323,
        pid: 1,
        tid: 1,
        args: {
          method: 'GET "/"',
          size: '1152921504606846976',
          delta: -3,
          ids: [1, '18446744073709551615'],
        },
      },
    ]);
  });

  it('takes the name of the process from the caller', () => {
    expect(convert([event()], { processName: 'worker' })[0]!.args).toEqual({ name: 'worker' });
  });

  it('draws what two substreams did at once on two lanes, and uses a lane again', () => {
    const events = convert([
      event({ substream: 11n, start: 20n, end: 30n, description: 'query' }),
      event({ substream: 12n, start: 15n, end: 40n, description: 'GET /b' }),
      event({ substream: 11n, start: 10n, end: 50n, description: 'GET /a' }),
      event({ substream: 13n, start: 45n, end: 60n, description: 'GET /c' }),
      event({ substream: 0n, start: 5n, end: 70n, description: 'turn' }),
    ]);
    expect(threads(events)).toEqual({
      1: 'stream 0',
      2: 'stream 0, substreams, lane 1',
      3: 'stream 0, substreams, lane 2',
    });
    expect(
      events.filter(({ ph }) => ph !== 'M').map(({ name, ph, tid, args }) => [name, ph, tid, args]),
    ).toEqual([
      ['query', 'X', 2, { substream: 11 }],
      ['GET /b', 'X', 3, { substream: 12 }],
      ['GET /a', 'X', 2, { substream: 11 }],
      ['GET /c', 'X', 3, { substream: 13 }],
      ['turn', 'X', 1, undefined],
    ]);
  });

  it('draws an event that overlaps another of its substream in part as asynchronous', () => {
    const [first, begin, end, last] = drawn([
      event({ substream: 5n, start: 1000n, end: 3000n, description: 'a' }),
      event({ substream: 5n, start: 2000n, end: 4000n, description: 'b' }),
      event({ substream: 5n, start: 0n, end: 5000n, description: 'c' }),
    ]);
    expect(first).toMatchObject({ name: 'a', ph: 'X', tid: 2 });
    expect(begin).toMatchObject({ name: 'b', ph: 'b', ts: 2, tid: 1, cat: 'heph' });
    expect(begin!.args).toEqual({ stream: 0, substream: 5 });
    expect(end).toEqual({ name: 'b', ph: 'e', ts: 4, pid: 1, tid: 1, cat: 'heph', id: begin!.id });
    expect(last).toMatchObject({ name: 'c', ph: 'X', tid: 2 });
  });

  it('gives each asynchronous event its own id', () => {
    const events = Array.from({ length: 4 }, (_, i) =>
      event({ start: BigInt(2 * i), end: BigInt(2 * i + 3) }),
    );
    const ids = drawn(events).flatMap(({ ph, id }) => (ph === 'b' ? [id] : []));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(1);
  });

  it('tells substreams apart that are the same as numbers', () => {
    const substreams = [2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n, 2n ** 64n - 2n];
    const events = drawn(substreams.map((substream) => event({ substream })));
    expect(events.map(({ tid }) => tid)).toEqual([2, 3, 4, 5]);
    expect(events.map(({ args }) => args!['substream'])).toEqual(substreams.map(String));
  });

  it('draws an event that ends before it starts as one without length, and says so', () => {
    expect(drawn([event({ start: 9000n, end: 2000n })])).toMatchObject([
      { ph: 'X', ts: 9, dur: 0, args: { 'ends before its start by (ns)': 7000 } },
    ]);
  });

  it('keeps attributes of the same name and names that mean something to JavaScript', () => {
    const attributes = ['a', 'a', '__proto__', 'constructor', 'substream', 'a'].map((name, i) => ({
      name,
      type: 'u64' as const,
      value: BigInt(i),
    }));
    const [{ args } = {}] = drawn([event({ substream: 9n, attributes })]);
    expect(JSON.stringify(args)).toBe(
      '{"a":0,"a (2)":1,"__proto__":2,"constructor":3,"substream":4,"a (3)":5,"substream (2)":9}',
    );
  });

  it('yields the events in front of a fault, then throws', () => {
    const path = writeTrace(directory, 'fault.heph', event(), event({ counter: 1 }), Buffer.of(1));
    const seen: ChromeEvent[] = [];
    expect(() => {
      for (const one of chromeEvents(path)) seen.push(one);
    }).toThrow(TraceFormatError);
    expect(seen.filter(({ ph }) => ph === 'X')).toHaveLength(2);
  });

  it('tells how far it is over both passes', () => {
    const path = writeTrace(directory, 'progress.heph', event());
    const told: [number, number][] = [];
    expect([...chromeEvents(path, { onProgress: (...args) => told.push(args) })]).toHaveLength(5);
    expect(told).toContainEqual([47, 94]);
    expect(told.at(-1)).toEqual([94, 94]);
  });

  it('needs no more lanes than substreams at the same time', () => {
    const events = Array.from({ length: 5000 }, (_, i) =>
      event({ substream: BigInt(i + 1), start: BigInt(i), end: BigInt(i + 10) }),
    );
    expect(Object.keys(threads(convert(events)))).toHaveLength(11);
  });

  it('draws as asynchronous what finds no lane', () => {
    const events = Array.from({ length: 1500 }, (_, i) => event({ substream: BigInt(i + 1) }));
    const converted = convert(events);
    expect(Object.keys(threads(converted))).toHaveLength(1001);
    const phases = converted.map(({ ph }) => ph);
    expect(phases.filter((ph) => ph === 'X')).toHaveLength(1000);
    expect(phases.filter((ph) => ph === 'b')).toHaveLength(500);
    expect(phases.filter((ph) => ph === 'e')).toHaveLength(500);
  });

  it('draws streams beyond those that a viewer can show on one further thread', () => {
    const events = Array.from({ length: 4100 }, (_, stream) => event({ stream }));
    const converted = convert(events);
    expect(threads(converted)[4097]).toBe('further streams');
    expect(converted.filter(({ ph }) => ph === 'b').map(({ tid }) => tid)).toEqual([
      4097, 4097, 4097, 4097,
    ]);
  });

  it('draws each event once, and nothing on a track that crosses something else there', () => {
    const time = fc.bigInt(0n, 50n);
    const few = fc.record({
      stream: fc.nat(2),
      substream: fc.bigInt(0n, 4n),
      start: time,
      length: fc.bigInt(0n, 20n),
    });
    fc.assert(
      fc.property(fc.array(few, { maxLength: 60 }), (spans) => {
        const parts = spans.map(({ start, length, ...rest }, i) =>
          event({ ...rest, start, end: start + length, description: String(i) }),
        );
        const events = drawn(parts);
        expect(events.filter(({ ph }) => ph !== 'e').map(({ name }) => name)).toEqual(
          spans.map((_, i) => String(i)),
        );
        const placed = events
          .filter(({ ph }) => ph === 'X')
          .map(({ name, tid, ts, dur }) => {
            // In whole nanoseconds: sums of microseconds would differ in the last place.
            const start = Math.round(ts * 1000);
            const { stream, substream } = spans[Number(name)]!;
            return { tid, start, end: start + Math.round(dur! * 1000), stream, substream };
          });
        for (const a of placed) {
          for (const b of placed) {
            if (a.tid !== b.tid) continue;
            expect(a.start < b.start && b.start < a.end && a.end < b.end).toBe(false);
            // Neither does one substream look like a part of another.
            if (a.stream !== b.stream || a.substream !== b.substream) {
              expect(a.end <= b.start || b.end <= a.start).toBe(true);
            }
          }
        }
      }),
    );
  });

  it('can always be said in JSON', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 8 }), (events) => {
        for (const one of convert(events.map(encodeEvent))) {
          expect(JSON.parse(JSON.stringify(one))).toMatchObject({ name: one.name });
          expect(Number.isFinite(one.ts) && Number.isFinite(one.dur ?? 0)).toBe(true);
        }
      }),
    );
  });
});

describe('readEpoch', () => {
  const read = (...parts: Uint8Array[]): bigint | undefined =>
    readEpoch(writeTrace(directory, 'epoch.heph', ...parts));

  it('is the first epoch, wherever it stands, or undefined', () => {
    expect(read(epoch, encodeEpoch(2n))).toBe(1610113734118010000n);
    expect(read(encodeMetadata('colour', Buffer.of(1)), event(), encodeEpoch(3n))).toBe(3n);
    expect(read(event())).toBeUndefined();
    expect(read()).toBeUndefined();
  });
});
