import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TraceFormatError } from '../../../src/core/errors.js';
import { readRows } from '../../../src/ovni/read/rows.js';
import { rowEvents } from '../../rows/row-events.js';
import type { PictureEvent } from '../../rows/row-events.js';
import { goldenTrace } from '../golden-trace.js';
import {
  T0,
  execute,
  mark,
  normal,
  writeFileIn,
  writeVersion1,
  writeVersion3,
} from '../trace-building.js';

const us = Number(T0) / 1000;
const eventsOf = (path: string): Iterable<PictureEvent> => rowEvents(readRows, path);
const marks = {
  mark: {
    3: { title: 'Request', chan_type: 'stack', labels: { 7: 'GET /' } },
    4: { title: 'Phase', chan_type: 'single', labels: { 1: 'idle' } },
  },
};

const slices = (events: PictureEvent[]): [string, number, number, number][] =>
  events
    .filter(({ ph }) => ph === 'X')
    .map(({ name, ts, dur, tid }) => [name, Math.round((ts - us) * 1000), dur! * 1000, tid]);

const names = (events: PictureEvent[], name: string): [number, unknown][] =>
  events.filter((event) => event.name === name).map(({ tid, args }) => [tid, args?.['name']]);

test('the golden trace', () => {
  const events = [...eventsOf(goldenTrace(3).trace)];
  const pid = 4242;
  const mark = 1 << 22;
  const named = (name: string, tid: number, to: string): unknown => ({
    name,
    ph: 'M',
    ts: 0,
    pid,
    tid,
    args: { name: to },
  });
  const instant = (name: string, at: number, args?: object): unknown => ({
    name,
    ph: 'i',
    cat: 'event',
    ts: (Number(T0) + at) / 1000,
    pid,
    tid: pid,
    ...(args && { args }),
  });
  const state = (name: string, from: number, to: number): unknown => ({
    name,
    ph: 'X',
    cat: 'states',
    ts: (Number(T0) + from) / 1000,
    dur: (to - from) / 1000,
    pid,
    tid: pid,
  });
  expect(events).toEqual([
    named('process_name', 0, 'node0.1000 proc 4242 app 1 rank 0'),
    named('thread_name', pid, 'thread 4242'),
    named('thread_name', mark, 'Request (thread 4242)'),
    instant('OB.', 10),
    instant('OAs', 20, { cpu: 1 }),
    state('running', 0, 30),
    state('paused', 30, 40),
    instant('VYc', 50, { typeid: 1, label: 'testtype1' }),
    {
      name: 'GET /',
      ph: 'X',
      cat: 'mark',
      ts: (Number(T0) + 60) / 1000,
      dur: 0.01,
      pid,
      tid: mark,
      args: { value: 7, type: 3 },
    },
    instant('XXa', 80),
    instant('XXb', 90),
    state('running', 40, 100),
  ]);
});

test('a stack is nested slices, a single mark one after the other', () => {
  const folder = writeVersion3([
    {
      ovni: marks,
      events: [
        execute(T0),
        mark('OM[', T0 + 10n, 7, 3),
        mark('OM=', T0 + 20n, 1, 4),
        mark('OM[', T0 + 30n, 8, 3),
        mark('OM=', T0 + 40n, 2, 4),
        mark('OM]', T0 + 50n, 8, 3),
        mark('OM]', T0 + 60n, 7, 3),
        normal('OHe', T0 + 70n),
      ],
    },
  ]);
  const events = [...eventsOf(folder)];
  const [stack, single] = [1 << 22, (1 << 22) + 1];
  expect(names(events, 'thread_name').sort(([a], [b]) => a - b)).toEqual([
    [1, 'thread 1'],
    [stack, 'Request (thread 1)'],
    [single, 'Phase (thread 1)'],
  ]);
  expect(slices(events)).toEqual([
    ['idle', 20, 20, single],
    ['8', 30, 20, stack],
    ['GET /', 10, 50, stack],
    ['running', 0, 70, 1],
    ['2', 40, 30, single],
  ]);
});

test('a pop out of order ends what is above, one of nothing ends nothing', () => {
  const folder = writeVersion3([
    {
      ovni: marks,
      events: [
        execute(T0),
        mark('OM[', T0 + 10n, 7, 3),
        mark('OM[', T0 + 20n, 8, 3),
        mark('OM]', T0 + 30n, 9, 3),
        mark('OM]', T0 + 40n, 7, 3),
        normal('OHe', T0 + 50n),
      ],
    },
  ]);
  expect(slices([...eventsOf(folder)])).toEqual([
    ['8', 20, 20, 1 << 22],
    ['GET /', 10, 30, 1 << 22],
    ['running', 0, 50, 1],
  ]);
});

test('flushes, and what is open at the end of a stream that breaks off', () => {
  const folder = writeVersion1([
    {
      events: [
        execute(T0),
        normal('OF[', T0 + 10n),
        normal('OF]', T0 + 20n),
        mark('OM[', T0 + 30n, 1, 9),
        normal('OF[', T0 + 40n),
        normal('OB.', T0 + 50n),
        Buffer.from('\0OB'),
      ],
    },
  ]);
  const events: PictureEvent[] = [];
  expect(() => {
    for (const event of eventsOf(folder)) events.push(event);
  }).toThrow(TraceFormatError);
  expect(slices(events)).toEqual([
    ['flush', 10, 10, 1],
    ['1', 30, 20, 1 << 22],
    ['flush', 40, 10, 1],
    ['running', 0, 50, 1],
  ]);
  expect(names(events, 'thread_name')).toContainEqual([1 << 22, 'mark 9 (thread 1)']);
});

test('a process id of two looms is shown as two', () => {
  const life = [execute(T0), normal('OHe', T0)];
  const folder = writeVersion3([
    { loom: 'a', pid: 5, events: life },
    { loom: 'b', pid: 5, events: life },
    { loom: 'b', pid: 6, tid: 2, events: life },
  ]);
  const events = [...eventsOf(folder)];
  const processes = events.filter(({ name }) => name === 'process_name');
  expect(processes.map(({ pid, args }) => [pid, args?.['name']])).toEqual([
    [5, 'a proc 5 app 1'],
    [6, 'b proc 5 app 1'],
    [7, 'b proc 6 app 1'],
  ]);
});

test('times are shifted by the offsets of the hosts and by the zero of the caller', () => {
  const life = [execute(T0), normal('OHe', T0 + 1000n)];
  const folder = writeVersion3([{ events: life }]);
  writeFileIn(folder, 'clock-offsets.txt', 'header\n0 node 2000 0 0\n');
  const [slice] = slices([...rowEvents(readRows, folder, { zero: -5000n })]);
  expect(slice).toEqual(['running', 7000, 1000, 1]);
});

test('whatever a thread emits, slices of a track nest and none is negative', () => {
  const event = fc.oneof(
    fc
      .constantFrom('OHp', 'OHr', 'OHc', 'OHe', 'OHx', 'OF[', 'OF]')
      .map((mcv) => (clock: bigint) => normal(mcv, clock)),
    fc.tuple(fc.constantFrom('OM[', 'OM]'), fc.integer({ min: 1, max: 3 })).map(
      ([mcv, value]) =>
        (clock: bigint) =>
          mark(mcv, clock, value, 3),
    ),
    fc.integer({ min: 1, max: 3 }).map((value) => (clock: bigint) => mark('OM=', clock, value, 4)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(event, fc.nat(9)), { maxLength: 60 }), (list) => {
      let clock = T0;
      const events = list.map(([make, step]) => make((clock += BigInt(step) * 1000n)));
      const folder = writeVersion3([{ events, ovni: marks }]);
      const drawn = [...eventsOf(folder)].filter(({ ph, name }) => ph === 'X' && name !== 'flush');
      for (const tid of new Set(drawn.map((slice) => slice.tid))) {
        const track = drawn
          .filter((slice) => slice.tid === tid)
          .map(({ ts, dur }) => ({ begin: ts, end: ts + dur! }));
        for (const a of track) {
          expect(a.end).toBeGreaterThanOrEqual(a.begin);
          for (const b of track) {
            const apart = a.end <= b.begin || b.end <= a.begin;
            const nested =
              (a.begin <= b.begin && b.end <= a.end) || (b.begin <= a.begin && a.end <= b.end);
            expect(apart || nested).toBe(true);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('threads have the names that the register hook gives them', () => {
  const of = (node: unknown): Record<string, unknown> => ({ attributes: { node } });
  const folder = writeVersion3([
    { events: [execute(T0)], ...of({ thread: 'main' }) },
    { tid: 2, events: [execute(T0)], ...of({ thread: 2 }) },
    { tid: 3, events: [execute(T0)], ...of(['thread']) },
  ]);
  expect(names([...eventsOf(folder)], 'thread_name')).toEqual([
    [1, 'main (thread 1)'],
    [2, 'thread 2'],
    [3, 'thread 3'],
  ]);
});
