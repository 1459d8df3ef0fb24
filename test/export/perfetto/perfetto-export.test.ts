import { describe, expect, it } from 'vitest';
import { Comm, Datatype } from '../../../src/dumpi/constants.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import type { Rank } from '../../../src/dumpi/write/rank.js';
import { PictureExport } from '../../../src/export/picture/picture-export.js';
import type { ExportOptions } from '../../../src/export/selection.js';
import type { Attribute } from '../../../src/heph/packet.js';
import { openKernelEvents } from '../../../src/laplace/write/kernel-events.js';
import type { Condition } from '../../../src/look/index/look-index.js';
import { findTraces } from '../../../src/traces/find-traces.js';
import { writeOvniTrace } from '../../cli/small-ovni-trace.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { T0, execute, mark, writeVersion3 } from '../../ovni/trace-building.js';
import {
  encodeResource,
  encodeSpan,
  MANY_ATTRIBUTES,
  manyAttributes,
  randomNumbers,
  withAttributes,
} from '../span-file.js';
import type { HandmadeSpan } from '../span-file.js';
import { faultsOf, readPerfetto } from './perfetto-trace.js';
import type { PerfettoTrace, Slice } from './perfetto-trace.js';

const directory = temporaryDirectory();
const EPOCH = 1_700_000_000_000_000_000n;

function exported(path: string, options: ExportOptions = {}): Buffer {
  return Buffer.concat([...new PictureExport(findTraces([path]), options).chunks()]);
}

let files = 0;
/** The picture of a file with spans. */
function pictureOf(spans: HandmadeSpan[], options: ExportOptions = {}): PerfettoTrace {
  const name = `${++files}.heph`;
  const path = writeTrace(directory, name, encodeEpoch(EPOCH), ...spans.map(encodeSpan));
  const trace = readPerfetto(exported(path, options));
  expect(faultsOf(trace)).toEqual([]);
  return trace;
}

const named = ({ slices }: PerfettoTrace, name: string): Slice => {
  const found = slices.find((slice) => slice.name === name);
  if (found === undefined) throw new Error(`no slice ${name}`);
  return found;
};

describe('spans for Perfetto', () => {
  it('nest on the lane of their parent, exact to the nanosecond', () => {
    const trace = pictureOf([
      { id: 2n, parent: 1n, start: 10n, end: 20n },
      { id: 3n, parent: 1n, start: 20n, end: 20n },
      { id: 4n, parent: 1n, start: 20n, end: 99n },
      { id: 1n, start: 10n, end: 99n, name: 'root' },
    ]);
    expect(trace.slices.map(({ name, depth, time, end }) => [name, depth, time, end])).toEqual(
      [
        ['root', 0, 10n, 99n],
        ['span 2', 1, 10n, 20n],
        ['span 3', 1, 20n, 20n],
        ['span 4', 1, 20n, 99n],
      ].map(([name, depth, start, end]) => [
        name,
        depth,
        (start as bigint) - 10n + trace.zero!,
        (end as bigint) - 10n + trace.zero!,
      ]),
    );
    expect(trace.realtime).toBe(EPOCH + 10n);
  });

  it('say their kind, unless it is internal', () => {
    const client = 2n;
    const trace = pictureOf([
      { id: 1n, start: 0n, end: 99n },
      { id: 2n, parent: 1n, start: 10n, end: 30n, flags: 1n | (client << 8n) },
    ]);
    expect(named(trace, 'span 2').args).toMatchObject({ kind: 'client' });
    expect(named(trace, 'span 2').category).toBe('client');
    expect(named(trace, 'span 1').args).not.toHaveProperty('kind');
  });

  it('have lanes and connections where they overlap', () => {
    const trace = pictureOf([
      { id: 2n, parent: 1n, start: 10n, end: 30n },
      { id: 3n, parent: 1n, start: 20n, end: 40n },
      { id: 1n, start: 0n, end: 99n },
      // Of another trace, at the same time.
      { id: 7n, trace: 2n, start: 5n, end: 98n },
    ]);
    const [parent, child, apart, other] = [1, 2, 3, 7].map((id) => named(trace, `span ${id}`));
    expect(child!.within).toBe(parent);
    expect(apart!.within).toBeUndefined();
    expect(other!.within).toBeUndefined();
    expect(new Set([parent, apart, other].map((slice) => slice!.track)).size).toBe(3);
    expect(apart!.flows).toEqual([3n]);
    expect(parent!.flows).toEqual([3n]);
    expect(apart!.args).toMatchObject({ parent: '0x1', span: '0x3' });
    expect(other!.flows).toEqual([]);
  });

  it('are connected between threads and processes, if both ends are there', () => {
    const path = `${directory}/two`;
    const remote = 1n | (1n << 14n) | (1n << 16n);
    const resource = (service: string, pid: bigint): Buffer =>
      encodeResource({ 'service.name': service, 'process.pid': pid });
    writeTrace(
      path,
      'a.heph',
      encodeEpoch(EPOCH),
      resource('front', 7n),
      encodeSpan({ id: 2n, parent: 1n, thread: 1, start: 1n, end: 2n, flags: 1n << 16n }),
      encodeSpan({ id: 1n, start: 0n, end: 90n, flags: 1n << 16n }),
    );
    writeTrace(
      path,
      'b.heph',
      encodeEpoch(EPOCH + 1000n),
      resource('back', 7n),
      encodeSpan({ id: 5n, parent: 1n, start: 0n, end: 10n, flags: remote }),
      encodeSpan({ id: 6n, parent: 0xdeadn, start: 20n, end: 30n, flags: remote }),
    );
    const trace = readPerfetto(exported(path));
    expect(faultsOf(trace)).toEqual([]);
    expect(named(trace, 'span 1').flows).toEqual([5n, 2n]);
    expect(named(trace, 'span 5').flows).toEqual([5n]);
    expect(named(trace, 'span 5').time - named(trace, 'span 1').time).toBe(1000n);
    expect(named(trace, 'span 6').flows).toEqual([]);
    const processes = [...trace.tracks.values()].flatMap(({ process }) => process ?? []);
    expect(processes.map(({ pid, name }) => [pid, name])).toEqual([
      [7n, 'front'],
      [8n, 'back'],
    ]);
    const threads = [...trace.tracks.values()].flatMap(({ thread }) => thread ?? []);
    expect(threads.map(({ pid, name }) => [pid, name])).toEqual([
      [7n, 'thread 1'],
      [7n, 'main'],
      [8n, 'main'],
    ]);
  });

  it('have their attributes with types, and interned texts that start anew', () => {
    const values = Array.from({ length: 40_000 }, (_, i) => `value ${i % 39_000}`);
    const others: Attribute[] = [
      { name: 'negative', type: 'i64', value: -5n },
      { name: 'large', type: 'u64', value: 2n ** 64n - 1n },
      { name: 'real', type: 'f64', value: 0.5 },
      { name: 'list', type: 'string[]', value: ['a', 'b'] },
    ];
    const trace = pictureOf(
      values.map((value, i) => ({
        id: BigInt(i + 1),
        trace: BigInt(i),
        start: BigInt(10 * i),
        end: BigInt(10 * i + 5),
        attributes: [
          { name: 'text', type: 'string', value },
          ...(i === values.length - 1 ? others : []),
        ],
      })),
    );
    expect(trace.slices.map(({ args }) => args['text'])).toEqual(values);
    expect(trace.slices.at(-1)!.args).toMatchObject({
      negative: -5n,
      large: 2n ** 64n - 1n,
      real: 0.5,
      list: ['a', 'b'],
    });
  });

  it('are whole wherever the file is cut after a packet', () => {
    const spans = Array.from({ length: 6 }, (_, i) => ({
      id: BigInt(i + 1),
      parent: i === 5 ? 0n : 6n,
      start: BigInt(i === 5 ? 0 : 7 * i),
      end: BigInt(i === 5 ? 99 : 7 * i + 9),
    }));
    const path = writeTrace(directory, 'cut.heph', encodeEpoch(EPOCH), ...spans.map(encodeSpan));
    const bytes = exported(path);
    for (let at = 0; at < bytes.length;) {
      let length = 0;
      let next = at + 1;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[next++]!;
        length |= (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
      at = next + length;
      // Throws for whatever refers to something that is not there.
      readPerfetto(bytes.subarray(0, at));
    }
  });

  it('are selected by time and condition, and lose only connections that would have one end', () => {
    const spans: HandmadeSpan[] = [
      { id: 2n, parent: 1n, thread: 1, start: 1000n, end: 2000n },
      { id: 1n, start: 0n, end: 3000n },
      { id: 3n, trace: 3n, start: 5000n, end: 5500n },
    ];
    const names = (options: ExportOptions): (string | undefined)[] =>
      pictureOf(spans, options).slices.map(({ name }) => name);
    const select = (range: object, condition = {}): ExportOptions => ({
      selection: { range, condition },
    });
    expect(names(select({}, { name: '*2' }))).toEqual(['span 2']);
    expect(names(select({ since: { from: 'start', nanoseconds: 2500 } }))).toEqual([
      'span 1',
      'span 3',
    ]);
    expect(names(select({ since: { from: 'end', nanoseconds: 500 } }))).toEqual(['span 3']);
    const until = { from: 'epoch', nanoseconds: EPOCH + 100n } as const;
    expect(names(select({ until }))).toEqual(['span 1']);
  });

  it.each([1, 2, 3, 4, 5, 6])('nest, whatever the file says (%i)', (seed) => {
    const below = randomNumbers(seed);
    const spans = Array.from({ length: 3000 }, (): HandmadeSpan => {
      const start = BigInt(below(seed === 1 ? 20 : 5000));
      const length = BigInt(below(seed % 2 === 0 ? 3 : 400));
      return {
        trace: BigInt(below(seed === 3 ? 2 : 200)),
        // Ids that occur several times, parents that are their own, and cycles of them.
        id: BigInt(below(1500) + 1),
        parent: BigInt(below(1800)),
        thread: below(3),
        start,
        end: below(20) === 0 ? 0n : start + length,
      };
    });
    const trace = pictureOf(spans);
    expect(trace.slices).toHaveLength(spans.length);
  });

  it('begin with the recording, whatever times a program gives to one of them', () => {
    const years = 25n * 31_557_600n * 10n ** 9n;
    const before: Attribute = { name: '~b', type: 'i64', value: -years };
    const drawn: Attribute = { name: 'length', type: 'u64', value: 20n };
    const trace = pictureOf([
      { id: 1n, start: 0n, end: 30n, name: 'imported', attributes: [before, drawn] },
      { id: 2n, start: 10n, end: 20n, name: 'usual', thread: 1 },
      { id: 3n, start: years + 1n, end: years + 11n, name: 'planned', thread: 2 },
    ]);
    expect(trace.realtime).toBe(EPOCH + 10n);
    const zero = trace.zero!;
    const drawnAt = (name: string): bigint[] => {
      const { time, end } = named(trace, name);
      return [time - zero, end - zero];
    };
    expect(drawnAt('usual')).toEqual([0n, 10n]);
    expect(drawnAt('planned')).toEqual([years - 9n, years + 1n]);
    expect(drawnAt('imported')).toEqual([0n, 20n]);
    const imported = named(trace, 'imported');
    expect(imported.args['began before the picture by (ns)']).toBe(years + 10n);
  });

  it('survive spans of 290 years, names of control characters, and very many attributes', () => {
    const far = 290n * 365n * 86_400n * 1_000_000_000n;
    const name = '\u0000\u001b[31m<script>\ud800\r\n'.repeat(40);
    const many = manyAttributes(MANY_ATTRIBUTES);
    // More than the 8 MiB of a packet.
    const long = Array.from({ length: 160 }, (_, i) => {
      return { name: `text ${i}`, type: 'string' as const, value: `${i}`.padEnd(60_000) };
    });
    const path = writeTrace(
      directory,
      'hostile.heph',
      encodeEpoch(EPOCH),
      encodeSpan({ id: 2n, parent: 1n, start: 5n, end: 2n ** 64n - 1n, name }),
      withAttributes(
        encodeSpan({ id: 3n, parent: 1n, start: far, end: far + 5n, attributes: long }),
        many,
      ),
      encodeSpan({ id: 1n, start: 0n, end: far, name: '' }),
    );
    const trace = readPerfetto(exported(path));
    expect(trace.slices).toHaveLength(3);
    expect(trace.slices.every(({ end, time }) => end >= time)).toBe(true);
    const large = named(trace, 'span 3');
    expect(large.args['further attributes']).toBeGreaterThan(BigInt(MANY_ATTRIBUTES - 10));
  });
});

describe('other traces for Perfetto', () => {
  it('draws plain events of Heph, loops as counters with units, and reports faults', () => {
    const loop = encodeEvent(
      someEvent({
        start: 0n,
        end: 1_000_000_000n,
        description: 'tracewright.loop',
        attributes: [
          { name: '~v', type: 'u64', value: 1n },
          { name: 'busy', type: 'u64', value: 250_000_000n },
          { name: 'delay', type: 'u64', value: 5n },
        ],
      }),
    );
    const overlapping = [0n, 1000n].map((start) =>
      encodeEvent(someEvent({ start, end: start + 1500n })),
    );
    const path = writeTrace(
      directory,
      'plain.heph',
      encodeEpoch(EPOCH),
      loop,
      ...overlapping,
      overlapping[0]!.subarray(0, 30),
    );
    const faults: string[] = [];
    const trace = readPerfetto(exported(path, { onFault: (fault) => faults.push(fault.message) }));
    expect(faults).toEqual([expect.stringContaining('plain.heph, byte')]);
    expect(faultsOf(trace)).toEqual([]);
    expect(new Set(trace.slices.map(({ track }) => track)).size).toBe(2);
    const counters = trace.events.filter(({ type }) => type === 'counter');
    const curves = counters.map(({ track, value }) => [trace.tracks.get(track)!.name, value]);
    expect(curves).toEqual([
      ['event loop utilisation (main)', 25],
      ['event loop utilisation (main)', 0],
      ['event loop delay (main)', 5],
      ['event loop delay (main)', 0],
    ]);
    const units = [...trace.tracks.values()].flatMap(({ unit }) => unit ?? []);
    expect(units).toEqual(['%', 1n]);
  });

  it('draws states and marks of ovni', () => {
    const path = `${directory}/ovni`;
    writeOvniTrace(path, 5_000_000_000_000n);
    const trace = readPerfetto(exported(path));
    expect(faultsOf(trace)).toEqual([]);
    expect(trace.slices.length).toBeGreaterThan(0);
    expect(trace.slices.map(({ category }) => category)).toContain('states');
  });

  it('selects marks and states by name, duration and attributes', () => {
    const path = `${directory}/selected`;
    const ovni = { mark: { 3: { title: 'Step', chan_type: 'stack', labels: { 7: 'seven' } } } };
    const events = [
      execute(T0),
      mark('OM[', T0 + 10n, 7, 3),
      mark('OM]', T0 + 30n, 7, 3),
      mark('OM[', T0 + 40n, 8, 3),
      mark('OM]', T0 + 45n, 8, 3),
    ];
    writeVersion3([{ events, ovni }], path);
    const names = (condition: Condition): (string | undefined)[] =>
      readPerfetto(exported(path, { selection: { range: {}, condition } })).slices.map(
        ({ name }) => name,
      );
    expect(names({ name: 'sev*' })).toEqual(['seven']);
    expect(names({ maxDuration: 20 })).toEqual(['seven', '8']);
    expect(names({ attributes: [{ name: 'value', value: '8' }] })).toEqual(['8']);
    expect(names({ status: 'error' })).toEqual([]);
  });

  it('draws ranks of DUMPI, and messages between them as flows', () => {
    const startTime = new Date(2026, 0, 1);
    const message = { count: 4, datatype: Datatype.INT, tag: 7, comm: Comm.WORLD };
    const ranks = [0, 1].map((rank) =>
      openRank({ directory, rank, size: 2, startTime, config: { timestamps: 'full' } }),
    );
    const [first, second] = ranks as [Rank, Rank];
    for (let i = 0; i < 3; i++) {
      first.log('MPI_Send', { ...message, dest: 1 });
      second.log('MPI_Recv', { ...message, source: 0, status: null });
    }
    // Nobody receives it, so nothing of its kind is connected.
    first.log('MPI_Send', { ...message, tag: 8, dest: 1 });
    for (const rank of ranks) rank.close();
    const trace = readPerfetto(exported(first.path.replace('-0000.bin', '.meta')));
    expect(faultsOf(trace)).toEqual([]);
    const ends = (name: string): bigint[][] =>
      trace.slices.filter((slice) => slice.name === name).map(({ flows }) => flows);
    expect(ends('MPI_Recv').map(({ length }) => length)).toEqual([1, 1, 1]);
    expect(ends('MPI_Send')).toEqual([...ends('MPI_Recv'), []]);
    const processes = [...trace.tracks.values()].flatMap(({ process }) => process?.name ?? []);
    expect(processes).toEqual(['MPI rank 0', 'MPI rank 1']);
  });

  it('draws the kernel events of Laplace', () => {
    const path = `${directory}/run.kernel.txt`;
    const trace = openKernelEvents(path);
    trace.schedule(100n, 1);
    trace.schedule(250n, 2);
    trace.close();
    const picture = readPerfetto(exported(path));
    expect(faultsOf(picture)).toEqual([]);
    expect(picture.slices.map(({ name, time, end }) => [name, end - time])).toEqual([
      ['scheduled', 150n],
      ['scheduled', 0n],
    ]);
  });
});
