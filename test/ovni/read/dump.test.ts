import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TraceFormatError } from '../../../src/core/errors.js';
import { dumpEvents, dumpLine, dumpObject } from '../../../src/ovni/read/dump.js';
import { goldenTrace } from '../golden-trace.js';
import {
  T0,
  execute,
  i32,
  jumbo,
  mark,
  normal,
  writeFileIn,
  writeVersion1,
  writeVersion3,
} from '../trace-building.js';

const linesOf = (path: string): string[] => [...lines(path)];

function* lines(path: string): Generator<string> {
  for (const event of dumpEvents(path)) yield dumpLine(event);
}

function objectsOf(path: string): unknown[] {
  const objects: unknown[] = [];
  for (const event of dumpEvents(path)) objects.push(dumpObject(event));
  return objects;
}

test('the golden trace', () => {
  const place = 'loom.node0.1000/proc.4242/thread.4242';
  expect(linesOf(goldenTrace(3).trace)).toEqual([
    `1000000000000  OHx  ${place}  thread state: running, CPU 0, creator -1, tag 0`,
    `1000000000010  OB.  ${place}  latency probe, one of a burst`,
    `1000000000020  OAs  ${place}  this thread moves itself to CPU 1`,
    `1000000000030  OHp  ${place}  thread state: paused`,
    `1000000000040  OHr  ${place}  thread state: running again`,
    `1000000000050  VYc  ${place}  task type 1 defined as "testtype1"`,
    `1000000000060  OM[  ${place}  mark push: type 3 "Request", value 7 "GET /"`,
    `1000000000070  OM]  ${place}  mark pop: type 3 "Request", value 7 "GET /"`,
    `1000000000080  XXa  ${place}  not declared: abcd`,
    `1000000000090  XXb  ${place}  not declared: 010203040506070809`,
    `1000000000100  OHe  ${place}  thread state: dead, execution over`,
  ]);
});

test('streams are merged by their clocks, with the offsets of their hosts', () => {
  const folder = writeVersion1([
    { events: [execute(T0), normal('OHe', T0 + 30n)] },
    { tid: 2, events: [normal('OB.', T0 + 10n), normal('OB.', T0 + 20n)] },
    { loom: 'b', pid: 2, tid: 3, events: [normal('OB.', 15n), normal('OB.', 25n)] },
  ]);
  writeFileIn(folder, 'clock-offsets.txt', `header\n0 node 0 0 0\n1 b ${T0} 0 0\n`);
  const order = [];
  for (const { stream, clock } of dumpEvents(folder)) order.push([stream.tid, Number(clock - T0)]);
  expect(order).toEqual([
    [1, 0],
    [2, 10],
    [3, 15],
    [2, 20],
    [3, 25],
    [1, 30],
  ]);
});

test('a part of a trace', () => {
  const folder = writeVersion3([
    { events: [normal('OB.', T0)] },
    { tid: 2, events: [normal('OB.', T0 + 1n)] },
  ]);
  expect(linesOf(join(folder, 'loom.node.1/proc.1/thread.2'))).toHaveLength(1);
});

test('objects for JSON', () => {
  const events = [
    execute(T0),
    normal('OB.', T0),
    mark('OM=', T0, -(2n ** 63n), 4),
    normal('XXa', T0, Buffer.from([1, 2])),
    normal('OAs', T0, Buffer.alloc(2)),
    jumbo('XXj', T0, Buffer.from([255])),
    jumbo('VYc', 2n ** 60n, Buffer.concat([i32(7), Buffer.from('a\0')])),
  ];
  const of = { loom: 'node.1', pid: 1, tid: 1 };
  const clock = Number(T0);
  const objects = objectsOf(writeVersion1([{ events }]));
  expect(objects).toEqual([
    { ...of, clock, mcv: 'OHx', offset: 0, size: 28, args: { cpu: -1, tid: -1, tag: 0 } },
    { ...of, clock, mcv: 'OB.', offset: 28, size: 12 },
    {
      ...of,
      clock,
      mcv: 'OM=',
      offset: 40,
      size: 24,
      args: { value: '-9223372036854775808', type: 4 },
    },
    { ...of, clock, mcv: 'XXa', offset: 64, size: 14, payload: '0102' },
    { ...of, clock, mcv: 'OAs', offset: 78, size: 14, payload: '0000' },
    { ...of, clock, mcv: 'XXj', offset: 92, size: 17, dataBytes: 1, data: 'ff' },
    {
      ...of,
      clock: '1152921504606846976',
      mcv: 'VYc',
      offset: 109,
      size: 22,
      dataBytes: 6,
      args: { typeid: 7, label: 'a' },
    },
  ]);
  expect(JSON.parse(JSON.stringify(objects))).toEqual(objects);
});

test('marks have their title and label, from whichever thread gives them', () => {
  const types = {
    '1': { title: 'Phase\x1b', chan_type: 'stack', labels: { '1': 'loading', '-9': 'minus' } },
  };
  const folder = writeVersion3([
    { events: [mark('OM[', T0, 1n, 1), mark('OM[', T0 + 1n, 2n, 1), mark('OM=', T0 + 2n, 3n, 2)] },
    { tid: 2, events: [mark('OM]', T0 + 3n, -9n, 1)], ovni: { mark: types } },
  ]);
  expect(linesOf(folder).map((line) => line.split('  ')[3])).toEqual([
    'mark push: type 1 "Phase\\u001b", value 1 "loading"',
    'mark push: type 1 "Phase\\u001b", value 2',
    'mark set: type 2, value 3',
    'mark pop: type 1 "Phase\\u001b", value -9 "minus"',
  ]);
  expect(objectsOf(folder)).toMatchObject([
    { args: { value: 1, type: 1 }, mark: { title: 'Phase\x1b', label: 'loading' } },
    { args: { value: 2, type: 1 }, mark: { title: 'Phase\x1b' } },
    { args: { value: 3, type: 2 } },
    { mark: { label: 'minus' } },
  ]);
});

test('lines of what cannot be decoded, and nothing that steers a terminal', () => {
  const tag = Buffer.concat([i32(0, -1), Buffer.from('ff00000000000000', 'hex')]);
  const events = [
    normal('OHx', 1n, tag),
    normal('\x1b[2', 2n),
    normal('OAs', 3n, Buffer.alloc(2)),
    jumbo('XXj', 4n, Buffer.alloc(40, 0xab)),
    jumbo('VYc', 5n, Buffer.concat([i32(7), Buffer.from('\x1b[2J\u202e\0')])),
  ];
  const meanings = linesOf(writeVersion1([{ events }])).map((line) => line.split('  ').slice(1));
  const place = 'loom.node.1/proc.1/thread.1';
  expect(meanings).toEqual([
    ['OHx', place, 'thread state: running, CPU 0, creator -1, tag 0xff'],
    ['\\u001b[2', place, 'not declared'],
    ['OAs', place, 'not as declared: 0000'],
    ['XXj', place, `not declared: ${'ab'.repeat(32)} and 8 bytes more`],
    ['VYc', place, 'task type 7 defined as "\\u001b[2J\\u202e"'],
  ]);
});

test('a stream that breaks off gives its events, then the error', () => {
  const folder = writeVersion1([{ events: [normal('OB.', T0), Buffer.from('\0OB')] }]);
  const seen: string[] = [];
  expect(() => {
    for (const line of lines(folder)) seen.push(line);
  }).toThrow(TraceFormatError);
  expect(seen).toHaveLength(1);
});
