import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TraceFormatError } from '../../../src/core/errors.js';
import { PictureExport } from '../../../src/export/picture/picture-export.js';
import type { ExportOptions } from '../../../src/export/selection.js';
import { findTraces } from '../../../src/traces/find-traces.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import type { EventFields } from '../../heph/byte-by-byte-encoder.js';
import { anyEvent } from '../../heph/read/arbitrary-packets.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { encodeSpan } from '../span-file.js';
import { drawn as picture } from './drawn-events.js';
import type { PictureEvent } from '../../rows/row-events.js';

const directory = temporaryDirectory();
const epoch = encodeEpoch(1610113734118010000n);
const event = (fields: Partial<EventFields> = {}): Buffer => encodeEvent(someEvent(fields));

function convert(parts: Uint8Array[], options?: ExportOptions): PictureEvent[] {
  return picture(writeTrace(directory, 'converted.heph', ...parts), options);
}

const drawn = (parts: Uint8Array[]): PictureEvent[] =>
  convert(parts).filter(({ ph }) => ph !== 'M');

function threads(events: PictureEvent[]): Record<number, unknown> {
  const names = events.filter(({ name }) => name === 'thread_name');
  return Object.fromEntries(names.map(({ tid, args }) => [tid, args!['name']]));
}

/** In whole nanoseconds: sums of microseconds would differ in the last digit. */
const nanoseconds = (time: number): number => Math.round(time * 1000);

describe('plain events of Heph as a picture', () => {
  it('have a process, the moment of time 0, and threads with names', () => {
    const events = convert([epoch, event({ stream: 0 }), event({ stream: 2 ** 32 - 2 })]);
    const metadata = events.filter(({ ph }) => ph === 'M');
    expect(metadata[0]).toMatchObject({ name: 'process_name', ts: 0, pid: 1 });
    expect(metadata[1]).toMatchObject({ name: 'process_labels', pid: 1 });
    const { start } = someEvent({});
    const first = new Date(Number((1610113734118010000n + start) / 1_000_000n)).toISOString();
    expect(metadata[1]!.args!['labels']).toContain(`time 0 is ${first.slice(0, -1)}`);
    expect(threads(events)).toEqual({ 1: 'main', 4294967294: 'thread 4294967294' });
  });

  it('say when there is no epoch, and find one that comes late', () => {
    const labels = (parts: Uint8Array[]): unknown =>
      convert(parts).find(({ name }) => name === 'process_labels')?.args!['labels'];
    expect(labels([event()])).toContain('not known');
    expect(labels([event(), epoch])).toContain('2021-01-08');
  });

  it('are slices in microseconds from the first of them', () => {
    const attributes = [
      { name: 'method', type: 'string' as const, value: 'GET "/"' },
      { name: 'size', type: 'u64' as const, value: 2n ** 60n },
      { name: 'delta', type: 'i64' as const, value: -3n },
      { name: 'ids', type: 'u64[]' as const, value: [1n, 2n ** 64n - 1n] },
    ];
    const second = { start: 1_234_567n, end: 1_234_890n, attributes };
    expect(drawn([epoch, event({ start: 7n, end: 7n }), event(second)])[1]).toEqual({
      ...{ name: 'event', cat: 'thread', ph: 'X', ts: 1234.56, dur: 0.323, pid: 1, tid: 1 },
      args: {
        method: 'GET "/"',
        size: 2n ** 60n,
        delta: -3,
        ids: [1, 2n ** 64n - 1n],
      },
    });
  });

  it('have lanes where they overlap, and use a lane again', () => {
    const events = convert([
      event({ substream: 11n, start: 20n, end: 30n, description: 'query' }),
      event({ substream: 12n, start: 15n, end: 40n, description: 'GET /b' }),
      event({ substream: 11n, start: 10n, end: 50n, description: 'GET /a' }),
      event({ substream: 13n, start: 45n, end: 60n, description: 'GET /c' }),
    ]);
    const lanes = Object.values(threads(events));
    expect(lanes).toEqual(['main', 'main, concurrent']);
    const slices = events.filter(({ ph }) => ph === 'X');
    expect(slices.map(({ name, args }) => [name, args])).toEqual([
      ['query', { substream: 11 }],
      ['GET /b', { substream: 12 }],
      ['GET /a', { substream: 11 }],
      ['GET /c', { substream: 13 }],
    ]);
    const [query, b, a, c] = slices.map(({ tid }) => tid);
    expect([query, b]).toEqual([a, c]);
    expect(a).not.toBe(b);
  });

  it('have no length if they end before they start, and say so', () => {
    expect(drawn([event({ start: 9000n, end: 2000n })])).toMatchObject([
      { ph: 'X', dur: 0, args: { 'ends before its start by (ns)': 7000 } },
    ]);
  });

  it('keep attributes of the same name and names that mean something to JavaScript', () => {
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

  it('are there up to a fault, which is thrown', () => {
    const path = writeTrace(directory, 'fault.heph', event(), event({ counter: 1 }), Buffer.of(1));
    const result = new PictureExport(findTraces([path]));
    expect(() => [...result.chunks()]).toThrow(TraceFormatError);
    expect(result.events).toBe(2);
  });

  it('are counted by their bytes over both passes', () => {
    const calls: [number, number][] = [];
    convert([event()], { progress: () => (done, total) => calls.push([done, total]) });
    expect(calls).toEqual([
      [47, 94],
      [94, 94],
    ]);
  });

  it('are all drawn, and nothing on a track crosses something else there', () => {
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
        expect(events.map(({ name }) => name)).toEqual(spans.map((_, i) => String(i)));
        const slices = events.map(({ name, tid, ts, dur }) => {
          const { start, length, stream, substream } = spans[Number(name)]!;
          expect([nanoseconds(ts), nanoseconds(dur!)]).toEqual([Number(start), Number(length)]);
          return { tid, start, end: start + length, stream, substream };
        });
        for (const a of slices) {
          for (const b of slices) {
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
        const slices = convert(events.map(encodeEvent)).filter(({ ph }) => ph === 'X');
        expect(slices.every(({ ts, dur }) => ts >= 0 && dur! >= 0)).toBe(true);
      }),
    );
  });
});

describe('spans as a picture', () => {
  it('lie on the lane of their parent, and are selected by a condition', () => {
    const spans = [
      { id: 2n, parent: 1n, start: 10n, end: 30n },
      { id: 3n, parent: 1n, start: 20n, end: 40n },
      { id: 1n, start: 0n, end: 99n },
    ].map(encodeSpan);
    const slices = (options?: ExportOptions): PictureEvent[] =>
      convert([epoch, ...spans], options).filter(({ ph }) => ph === 'X');
    const [child, root, apart] = [2, 1, 3].map((id) =>
      slices().find(({ name }) => name === `span ${id}`)!,
    );
    expect(child!.tid).toBe(root!.tid);
    expect(apart!.tid).not.toBe(root!.tid);
    expect([child!.ts, child!.dur]).toEqual([0.01, 0.02]);
    expect(apart!.args).toMatchObject({ span: '0x3', parent: '0x1' });
    const selection = { range: {}, condition: { name: '*2' } };
    expect(slices({ selection }).map(({ name }) => name)).toEqual(['span 2']);
  });
});
