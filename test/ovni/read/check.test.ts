import { spawnSync } from 'node:child_process';
import { cpSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkTrace } from '../../../src/ovni/read/check.js';
import { goldenTrace } from '../golden-trace.js';
import {
  T0,
  cpus,
  execute,
  i32,
  jumbo,
  mark,
  normal,
  temporaryFolder,
  writeFileIn,
  writeVersion1,
  writeVersion3,
} from '../trace-building.js';
import type { TestThread } from '../trace-building.js';

const HOUR = 3_600_000_000_000n;

/**
 * The emulator of version 3, to hold the check against: the tests do that when this variable names
 * its program, and go without it otherwise.
 */
const emulator = process.env['OVNIEMU'];

/** The rules that are broken, errors and warnings apart. */
function rulesOf(path: string): { errors: string[]; warnings: string[] } {
  const findings = [...checkTrace(path)];
  const of = (severity: string): string[] => [
    ...new Set(findings.filter((finding) => finding.severity === severity).map(({ rule }) => rule)),
  ];
  return { errors: of('error'), warnings: of('warning') };
}

function expectEmulatorToAgree(folder: string, accepts: boolean): void {
  if (emulator === undefined) return;
  // It writes into the trace that it reads.
  const copy = temporaryFolder();
  cpSync(folder, copy, { recursive: true });
  expect(spawnSync(emulator, [copy]).status === 0).toBe(accepts);
}

/** One thread between OHx and OHe, its events a nanosecond apart. */
const life = (...between: ((clock: bigint) => Buffer)[]): Buffer[] => [
  execute(T0),
  ...between.map((event, at) => event(T0 + 1n + BigInt(at))),
  normal('OHe', T0 + 9999n),
];
const plain =
  (mcv: string, payload?: Buffer) =>
  (clock: bigint): Buffer =>
    normal(mcv, clock, payload);
const marking =
  (mcv: string, value: number, type: number) =>
  (clock: bigint): Buffer =>
    mark(mcv, clock, value, type);
/** The states of a thread by the letters of its OH events. */
const states = (letters: string): Buffer[] =>
  Array.from(letters, (letter, at) =>
    letter === 'x' ? execute(T0 + BigInt(at)) : normal(`OH${letter}`, T0 + BigInt(at)),
  );

const marks = {
  mark: {
    3: { title: 'Stack', chan_type: 'stack', labels: { 1: 'one' } },
    4: { title: 'Single', chan_type: 'single' },
  },
};
const withNosv = { require: { ovni: '1.1.0', nosv: '2.4.0' } };
const one = (events: Buffer[], ovni?: Record<string, unknown>): TestThread[] => [
  { events, ...(ovni && { ovni }) },
];
/** One thread in a trace that requires all models. A string is an event without arguments. */
const tasks = (...between: (string | ((clock: bigint) => Buffer))[]): TestThread[] =>
  one(
    life(...between.map((event) => (typeof event === 'string' ? plain(event) : event))),
    withRuntimes,
  );
const withRuntimes = {
  require: {
    ovni: '1.1.0',
    mpi: '1.0.0',
    nanos6: '1.1.0',
    nodes: '1.0.0',
    nosv: '2.7.0',
    openmp: '1.2.1',
    tampi: '1.0.0',
  },
};
const typed =
  (mcv: string, id: number, label: string) =>
  (clock: bigint): Buffer =>
    jumbo(mcv, clock, Buffer.concat([i32(id), Buffer.from(`${label}\0`)]));
const counted = (count: number): Record<string, unknown> => ({
  nosv: {
    hwc: Object.fromEntries(Array.from({ length: count }, (_, i) => [i, { name: `c${i}` }])),
  },
});
const two = (first: Buffer[], second: Buffer[]): TestThread[] => [
  { events: first },
  { tid: 2, events: second },
];

describe('version 3', () => {
  test.each<[string, TestThread[]]>([
    ['a thread that begins and ends', one(life())],
    ['OB. of any size, anywhere', one([normal('OB.', T0, Buffer.alloc(5)), ...life()])],
    ['a thread that executes again', one(states('xexe'))],
    ['all states', one(states('xcpwrpre'))],
    ['an end while cooling', one(states('xce'))],
    ['a thread that is created', one(life(plain('OHC', Buffer.alloc(12))))],
    ['three threads on the virtual CPU', [...two(life(), life()), { tid: 3, events: life() }]],
    ['marks', one(life(marking('OM[', 1, 3), marking('OM]', 1, 3), marking('OM=', -9, 4)), marks)],
    [
      'a mark type of another thread',
      [...one(life(), marks), { tid: 2, events: life(marking('OM=', 1, 4)) }],
    ],
    [
      '512 marks on a stack',
      one(
        life(
          ...Array.from({ length: 512 }, () => marking('OM[', 1, 3)),
          ...Array.from({ length: 512 }, () => marking('OM]', 1, 3)),
        ),
        marks,
      ),
    ],
    ['a flush', one(life(plain('OF['), plain('OF]')))],
    [
      'events of a required model',
      one(
        life(plain('VS@'), (t) => jumbo('VYc', t, Buffer.from('\x01\0\0\0a\0'))),
        withNosv,
      ),
    ],
    [
      'a model that another thread requires',
      [...one(life(), withNosv), { tid: 2, events: life(plain('VS@')) }],
    ],
    [
      'an affinity that changes',
      one(life(plain('OAs', i32(1)), plain('OAs', i32(1)), plain('OAs', i32(-1)))),
    ],
    [
      'a thread moved by another',
      two(
        [execute(T0), normal('OAr', T0 + 6n, i32(1, 2)), normal('OHe', T0 + 9n)],
        [execute(T0), normal('OHp', T0 + 5n), normal('OHr', T0 + 8n), normal('OHe', T0 + 9n)],
      ),
    ],
    [
      'one CPU, one thread after the other',
      two([execute(T0, 0), normal('OHe', T0 + 5n)], [execute(T0 + 6n, 0), normal('OHe', T0 + 9n)]),
    ],
    [
      'one CPU, the other thread cooling',
      two(
        [execute(T0, 0), normal('OHc', T0 + 1n), normal('OHe', T0 + 9n)],
        [execute(T0 + 2n, 0), normal('OHe', T0 + 4n)],
      ),
    ],
    [
      'an hour between the first clocks',
      two(life(), [execute(T0 + HOUR), normal('OHe', T0 + 2n * HOUR)]),
    ],
    [
      'a late thread that is led by OB.',
      two(life(), [normal('OB.', T0), execute(T0 + 5n * HOUR), normal('OHe', T0 + 6n * HOUR)]),
    ],
    [
      'the CPUs of the loom in two parts',
      [
        ...one(life(), { loom_cpus: cpus.slice(0, 1) }),
        { tid: 2, events: life(), ovni: { loom_cpus: cpus.slice(1) } },
      ],
    ],
    [
      'ranks',
      [
        ...one(life(), { rank: 0, nranks: 2 }),
        { pid: 2, events: life(), ovni: { rank: 1, nranks: 2 } },
      ],
    ],
    ['an unordered region that is in order', one(life(plain('OU['), plain('OU]')))],
    [
      'progress states that change',
      tasks(plain('6Pr'), plain('6Pp'), plain('6Pa'), plain('VPr'), plain('VPp')),
    ],
    [
      'regions in regions, of each model its own',
      tasks(
        ...['6W[', 'VSh', '6Hw', 'VSf', '6Wt', 'MUi', 'DR[', 'TCi', 'PH[', 'MUI', '6WT', '6HW'],
        ...['6W]', 'PH]', 'DR]', 'TCI', 'VS[', 'VSn', 'VSN', 'VS]'],
      ),
    ],
    [
      'a region directly in itself, in nosv and openmp',
      tasks('VMa', 'VMa', 'VMA', 'VMA', 'PBb', 'PBb', 'PBB', 'PBB'),
    ],
    [
      'events that change no region',
      tasks('6W*', '6W*', '6t[', '6t[', 'VHa', 'VHa', 'PBs', 'PBs', 'VSr'),
    ],
    [
      'a task that pauses',
      tasks(
        typed('6Yc', 1, 'a'),
        plain('6Tc', i32(7, 1)),
        plain('6Tx', i32(7)),
        plain('6Tp', i32(7)),
        plain('6Tr', i32(7)),
        plain('6Te', i32(7)),
      ),
    ],
    [
      'a task of nosv and one of openmp that run twice',
      tasks(
        typed('VYc', 1, 'a'),
        plain('VTc', i32(0x7fff_ffff, 1)),
        ...[0, 0].flatMap(() => [
          plain('VTx', i32(0x7fff_ffff, 0)),
          plain('VTe', i32(0x7fff_ffff, 0)),
        ]),
        typed('POc', 1, ''),
        plain('PPc', i32(1, 1)),
        ...[0, 0].flatMap(() => [plain('PPx', i32(1)), plain('PPe', i32(1))]),
      ),
    ],
    [
      'bodies of a parallel task on two threads',
      [
        ...one(
          life(
            typed('VYc', 1, 'a'),
            plain('VTC', i32(1, 1)),
            plain('VTx', i32(1, 1)),
            plain('OB.'),
            plain('VTe', i32(1, 1)),
          ),
          withRuntimes,
        ),
        {
          tid: 2,
          events: [
            execute(T0),
            normal('VTx', T0 + 10n, i32(1, 2)),
            normal('VTe', T0 + 11n, i32(1, 2)),
            normal('OHe', T0 + 12n),
          ],
        },
      ],
    ],
    [
      'worksharings whose types have the same label',
      tasks(typed('POc', 1, 'a'), typed('POc', 2, 'a'), plain('PQx', i32(1)), plain('PQe', i32(2))),
    ],
    [
      'hardware counters',
      [
        {
          events: life((t) => jumbo('VWC', t, Buffer.alloc(16, 1))),
          ovni: withRuntimes,
          attributes: counted(2),
        },
      ],
    ],
  ])('accepts %s', (_, threads) => {
    const folder = writeVersion3(threads);
    expect([...checkTrace(folder)]).toEqual([]);
    expectEmulatorToAgree(folder, true);
  });

  test.each<[string, string, TestThread[]]>([
    ['clock-backwards', 'a clock that goes back', one([execute(T0 + 5n), normal('OHe', T0)])],
    [
      'clock-backwards',
      'a clock beyond an i64',
      one([execute(2n ** 63n), normal('OHe', 2n ** 63n)]),
    ],
    ['empty-stream', 'a thread without events', one([])],
    ['stream', 'half an event at the end', one([...life(), Buffer.from('\0OB')])],
    ['thread-not-ended', 'no OHe', one([execute(T0)])],
    ['thread-not-ended', 'only OB.', one([normal('OB.', T0)])],
    ['thread-state', 'OHp first', one(states('p'))],
    ['thread-state', 'OHx twice', one(states('xxe'))],
    ['thread-state', 'OHx while paused', one(states('xpxe'))],
    ['thread-state', 'OHe while paused', one(states('xpe'))],
    ['thread-state', 'OHw while running', one(states('xwre'))],
    ['thread-state', 'OHr while running', one(states('xre'))],
    ['thread-state', 'OHc while cooling', one(states('xcce'))],
    ['cpu-unknown', 'a CPU that the loom has not', one([execute(T0, 2), normal('OHe', T0)])],
    ['cpu-unknown', 'CPU -2', one([execute(T0, -2), normal('OHe', T0)])],
    [
      'cpu-busy',
      'two running on one CPU',
      two([execute(T0, 0), normal('OHe', T0 + 9n)], [execute(T0 + 1n, 0), normal('OHe', T0 + 9n)]),
    ],
    [
      'cpu-busy',
      'a thread resumed where another runs',
      two(
        [execute(T0, 0), normal('OHp', T0 + 1n), normal('OHr', T0 + 5n), normal('OHe', T0 + 9n)],
        [execute(T0 + 2n, 0), normal('OHe', T0 + 20n)],
      ),
    ],
    [
      'cpu-busy',
      'a thread moved where another runs',
      two(
        [execute(T0, 0), normal('OAr', T0 + 3n, i32(0, 2)), normal('OHe', T0 + 9n)],
        [execute(T0, 1), normal('OHe', T0 + 20n)],
      ),
    ],
    [
      'affinity',
      'OAs while paused',
      one([
        execute(T0),
        normal('OHp', T0 + 1n),
        normal('OAs', T0 + 2n, i32(0)),
        normal('OHr', T0 + 3n),
        normal('OHe', T0 + 4n),
      ]),
    ],
    ['affinity', 'OAr of no thread', one(life(plain('OAr', i32(0, 7))))],
    ['affinity', 'OAr to where the thread is', one(life(plain('OAr', i32(-1, 1))))],
    [
      'affinity',
      'OAr of a thread that has ended',
      two(
        [execute(T0), normal('OAr', T0 + 6n, i32(1, 2)), normal('OHe', T0 + 9n)],
        [execute(T0), normal('OHe', T0 + 5n)],
      ),
    ],
    ['payload', 'OHx without a payload', one([normal('OHx', T0), normal('OHe', T0)])],
    ['payload', 'OAs with 8 bytes', one(life(plain('OAs', Buffer.alloc(8))))],
    ['payload', 'a mark with 16 bytes', one(life(plain('OM=', Buffer.alloc(16))), marks)],
    [
      'label-length',
      'VYc with a label of 512 bytes',
      one(
        life((t) => jumbo('VYc', t, Buffer.from(`\x01\0\0\0${'a'.repeat(512)}\0`))),
        withNosv,
      ),
    ],
    ['payload', 'VYc that is not jumbo', one(life(plain('VYc', Buffer.alloc(8))), withNosv)],
    ['unknown-model', 'a model that nobody knows', one(life(plain('XXa')))],
    ['model-not-required', 'a model that no thread requires', one(life(plain('VS@')))],
    ['undeclared-event', 'an event that its model does not declare', one(life(plain('OZz')))],
    ['undeclared-event', 'the same in another model', one(life(plain('VZz')), withNosv)],
    [
      'thread-not-active',
      'an event of nosv before OHx',
      one([normal('VS@', T0), ...life()], withNosv),
    ],
    [
      'out-of-cpu',
      'an event while switched out',
      one(life(plain('KCO'), plain('OB.'), plain('KCI')), {
        require: { ovni: '1.1.0', kernel: '1.0.0' },
      }),
    ],
    ['region', 'a progress state twice', tasks('6Pr', '6Pr')],
    ['region', 'the progress state that a thread of nanos6 begins in', tasks('6Pp')],
    ['region', 'the progress state that a thread of nosv begins in', tasks('VPp')],
    ['region', 'a progress state again after another', tasks('VPr', 'VPa', 'VPa')],
    ...['6W[', '6Hw', 'DR[', 'MUi', 'TCi'].map((mcv): [string, string, TestThread[]] => [
      'region',
      `${mcv} directly in the same region`,
      tasks(mcv, mcv),
    ]),
    ...['6W]', '6HW', 'DR]', 'MUI', 'TCI', 'VSf', 'VSn', 'PBB'].map(
      (mcv): [string, string, TestThread[]] => ['region', `${mcv} without a beginning`, tasks(mcv)],
    ),
    ['region', 'an end of the outer region', tasks('6W[', '6Wt', '6W]')],
    ['region', '513 regions', tasks(...Array.from({ length: 513 }, () => 'VMa'))],
    [
      'region',
      'the end of a task in a region that began in it',
      tasks(
        typed('6Yc', 1, 'a'),
        plain('6Tc', i32(7, 1)),
        plain('6Tx', i32(7)),
        '6W[',
        plain('6Te', i32(7)),
      ),
    ],
    ['task', 'a task without a type', tasks(plain('6Tc', i32(7, 1)))],
    ['task', 'a task type twice', tasks(typed('VYc', 1, 'a'), typed('VYc', 1, 'a'))],
    ['task', 'a task type with the number 0', tasks(typed('POc', 0, 'a'))],
    ['task', 'a task that was not created', tasks(plain('PPx', i32(1)))],
    [
      'task',
      'a task twice',
      tasks(typed('6Yc', 1, 'a'), plain('6Tc', i32(7, 1)), plain('6Tc', i32(7, 1))),
    ],
    [
      'task',
      'a task of nanos6 that runs again',
      tasks(
        typed('6Yc', 1, 'a'),
        plain('6Tc', i32(7, 1)),
        ...[0, 0].flatMap(() => [plain('6Tx', i32(7)), plain('6Te', i32(7))]),
      ),
    ],
    [
      'task',
      'a task of nosv in one that runs',
      tasks(
        typed('VYc', 1, 'a'),
        ...[1, 2].map((id) => plain('VTc', i32(id, 1))),
        ...[1, 2].map((id) => plain('VTx', i32(id, 0))),
      ),
    ],
    [
      'task',
      'a body of a parallel task that pauses',
      tasks(
        typed('VYc', 1, 'a'),
        plain('VTC', i32(1, 1)),
        plain('VTx', i32(1, 1)),
        plain('VTp', i32(1, 1)),
      ),
    ],
    [
      'task',
      'a body with a number in a task that is not parallel',
      tasks(typed('VYc', 1, 'a'), plain('VTc', i32(1, 1)), plain('VTx', i32(1, 1))),
    ],
    [
      'task',
      'a worksharing that ends another',
      tasks(typed('POc', 1, 'a'), typed('POc', 2, 'b'), plain('PQx', i32(1)), plain('PQe', i32(2))),
    ],
    [
      'task',
      'a task that ends on another thread',
      [
        ...one(
          life(typed('6Yc', 1, 'a'), plain('6Tc', i32(7, 1)), plain('6Tx', i32(7))),
          withRuntimes,
        ),
        {
          tid: 2,
          events: [execute(T0), normal('6Te', T0 + 50n, i32(7)), normal('OHe', T0 + 51n)],
        },
      ],
    ],
    ['counters', 'VWC without counters', tasks((t) => jumbo('VWC', t, Buffer.alloc(8)))],
    [
      'counters',
      'VWC with fewer counters',
      [
        {
          events: life((t) => jumbo('VWC', t, Buffer.alloc(8))),
          ovni: withRuntimes,
          attributes: counted(2),
        },
      ],
    ],
    [
      'counters',
      'two numbers of counters',
      [
        { events: life(), ovni: withRuntimes, attributes: counted(2) },
        { tid: 2, events: life(), ovni: withRuntimes, attributes: counted(1) },
      ],
    ],
    ['flush', 'OF] alone', one(life(plain('OF]')))],
    ['flush', 'OF[ twice', one(life(plain('OF['), plain('OF[')))],
    ['mark', 'a type that is not defined', one(life(marking('OM=', 1, 5)), marks)],
    ['mark', 'a value of 0', one(life(marking('OM=', 0, 4)), marks)],
    ['mark', 'a push on a single mark', one(life(marking('OM[', 1, 4)), marks)],
    ['mark', 'a set on a stack', one(life(marking('OM=', 1, 3)), marks)],
    [
      'mark',
      'a pop of another value',
      one(life(marking('OM[', 1, 3), marking('OM]', 2, 3)), marks),
    ],
    ['mark', 'a pop of nothing', one(life(marking('OM]', 2, 3)), marks)],
    [
      'mark',
      '513 marks on a stack',
      one(life(...Array.from({ length: 513 }, () => marking('OM[', 1, 3))), marks),
    ],
    [
      'mark-type',
      'a type with two titles',
      [
        ...one(life(), marks),
        { tid: 2, events: life(), ovni: { mark: { 3: { title: 'Other', chan_type: 'stack' } } } },
      ],
    ],
    [
      'mark-type',
      'a type with two channels',
      [
        ...one(life(), marks),
        { tid: 2, events: life(), ovni: { mark: { 3: { title: 'Stack', chan_type: 'single' } } } },
      ],
    ],
    [
      'mark-type',
      'a value with two labels',
      [
        ...one(life(), marks),
        {
          tid: 2,
          events: life(),
          ovni: { mark: { 3: { title: 'Stack', chan_type: 'stack', labels: { 1: 'uno' } } } },
        },
      ],
    ],
    [
      'mark-type',
      'a label of 512 bytes',
      one(life(), {
        mark: { 5: { title: 'a', chan_type: 'stack', labels: { 1: 'ñ'.repeat(256) } } },
      }),
    ],
    [
      'mark-type',
      'labels that meet in 32 bits',
      one(life(), {
        mark: { 5: { title: 'a', chan_type: 'stack', labels: { 1: 'a', 4294967297: 'b' } } },
      }),
    ],
    [
      'metadata',
      'a mark type of 100',
      one(life(), { mark: { 100: { title: 'a', chan_type: 'stack' } } }),
    ],
    ['metadata', 'an application id of 0', one(life(), { app_id: 0 })],
    ['application-id', 'no application id', one(life(), { app_id: undefined })],
    [
      'application-id',
      'two application ids',
      [...one(life()), { tid: 2, events: life(), ovni: { app_id: 2 } }],
    ],
    [
      'rank',
      'a rank in one process only',
      [...one(life(), { rank: 0, nranks: 2 }), { pid: 2, events: life() }],
    ],
    ['rank', 'a rank beyond nranks', one(life(), { rank: 2, nranks: 2 })],
    ['rank', 'a rank without nranks', one(life(), { rank: 0 })],
    ['cpus', 'no CPUs in the loom', one(life(), { loom_cpus: undefined })],
    [
      'cpus',
      'a gap in the CPU indexes',
      one(life(), {
        loom_cpus: [
          { index: 0, phyid: 0 },
          { index: 2, phyid: 2 },
        ],
      }),
    ],
    [
      'cpus',
      'an index for two CPUs',
      one(life(), { loom_cpus: [...cpus, { index: 1, phyid: 7 }] }),
    ],
    [
      'cpu-phyid',
      'a CPU with two indexes',
      one(life(), { loom_cpus: [...cpus, { index: 2, phyid: 2 }] }),
    ],
    ['loom-name', 'a slash in the name of the loom', one(life(), { loom: 'a/b' })],
    ['library', 'no ovni.lib', one(life(), { lib: undefined })],
    ['not-finished', 'no ovni.finished', one(life(), { finished: undefined })],
    ['required-model', 'no ovni.require', one(life(), { require: undefined })],
    ['required-model', 'a version that is too new', one(life(), { require: { ovni: '1.2.0' } })],
    ['required-model', 'a version of another kind', one(life(), { require: { nosv: '1.0.0' } })],
    ['required-model', 'a version of two numbers', one(life(), { require: { nosv: '2.4' } })],
    [
      'clock-gap',
      'more than an hour between the first clocks',
      two(life(), [execute(T0 + HOUR + 1n), normal('OHe', T0 + 2n * HOUR)]),
    ],
  ])('%s: refuses %s', (rule, _, threads) => {
    const folder = writeVersion3(threads);
    expect(rulesOf(folder).errors).toContain(rule);
    expectEmulatorToAgree(folder, false);
  });

  test.each<[string, string, TestThread[]]>([
    ['mark-left', 'marks left at the end', one(life(marking('OM[', 1, 3)), marks)],
    ['region-left', 'regions left at the end', tasks('6W[', '6Wt', '6WT')],
    [
      'payload-extra',
      'a payload where none is declared',
      one(life(plain('OF[', Buffer.alloc(4)), plain('OF]'))),
    ],
    [
      'payload-extra',
      'OHx with less than is declared',
      one([normal('OHx', T0, i32(-1)), normal('OHe', T0)]),
    ],
    ['ignored-event', 'an event of old traces', one(life(plain('OCn', i32(2))))],
  ])('%s: only warns of %s', (rule, _, threads) => {
    const folder = writeVersion3(threads);
    expect(rulesOf(folder)).toEqual({ errors: [], warnings: [rule] });
    expectEmulatorToAgree(folder, true);
  });

  test('clock offsets count', () => {
    const threads = [
      { events: life() },
      { loom: 'b.1', pid: 2, events: [execute(T0 + 9n * HOUR), normal('OHe', T0 + 9n * HOUR)] },
    ];
    const folder = writeVersion3(threads);
    expect(rulesOf(folder).errors).toEqual(['clock-gap']);
    const table = (rows: string): string =>
      `rank hostname offset_median offset_mean offset_std\n${rows}`;
    writeFileIn(folder, 'clock-offsets.txt', table(`0 node 0 0 0\n1 b ${-9n * HOUR} 0 0\n`));
    expect(rulesOf(folder).errors).toEqual([]);
    expectEmulatorToAgree(folder, true);
    writeFileIn(folder, 'clock-offsets.txt', table('0 node 0 0 0\n1 c 0 0 0\n'));
    expect(rulesOf(folder).errors).toEqual(['clock-offsets', 'clock-gap']);
    expectEmulatorToAgree(folder, false);
  });

  test('a finding says where', () => {
    const folder = writeVersion3(one(life(plain('OB.'), plain('XXa', Buffer.alloc(2)))));
    expect([...checkTrace(folder)]).toEqual([
      {
        severity: 'error',
        rule: 'unknown-model',
        message: 'no model has the letter of event "XXa"',
        path: join(folder, 'loom.node.1/proc.1/thread.1/stream.obs'),
        offset: 8 + 28 + 12,
      },
    ]);
  });

  test('findings of one rule are counted beyond a number', () => {
    const folder = writeVersion3(one(life(...Array.from({ length: 1000 }, () => plain('XXa')))));
    const findings = [...checkTrace(folder, { repeats: 5 })];
    expect(findings).toHaveLength(6);
    expect(findings[5]).toMatchObject({
      rule: 'unknown-model',
      message: '995 more findings of this rule',
    });
  });

  test('progress goes up to the whole', () => {
    const folder = writeVersion3(two([execute(T0, 0), normal('OHe', T0 + 9n)], life()));
    const steps: [number, number][] = [];
    expect([
      ...checkTrace(folder, { onProgress: (done, total) => steps.push([done, total]) }),
    ]).toEqual([]);
    expect(steps.length).toBeGreaterThan(1);
    const [done, total] = steps.at(-1)!;
    expect(done).toBe(total);
  });

  test('a stream cut anywhere is found to be cut or not ended', () => {
    const folder = writeVersion3(one(life(plain('OAs', i32(0)), plain('OB.'))));
    const path = join(folder, 'loom.node.1/proc.1/thread.1/stream.obs');
    for (let size = 8 + 28 + 16 + 12 + 11; size >= 0; size -= 1) {
      truncateSync(path, size);
      expect(rulesOf(folder).errors.length).toBeGreaterThan(0);
    }
  });

  test('flipped bits are findings, never a crash', () => {
    const events = Buffer.concat(life(plain('OAs', i32(0)), marking('OM[', 1, 3), plain('VS@')));
    fc.assert(
      fc.property(
        fc.array(fc.nat(8 * events.length - 1), { minLength: 1, maxLength: 4 }),
        (flips) => {
          const bytes = Buffer.from(events);
          for (const bit of flips) bytes[bit >> 3]! ^= 1 << (bit & 7);
          const folder = writeVersion3([{ events: [bytes], ovni: { ...marks, ...withNosv } }]);
          for (const finding of checkTrace(folder)) expect(finding.message).not.toBe('');
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('version 1', () => {
  test('the golden trace has nothing to find', () => {
    expect([...checkTrace(goldenTrace(1).trace)]).toEqual([]);
  });

  test('of the golden version 3 trace only the XX events', () => {
    const findings = [...checkTrace(goldenTrace(3).trace)];
    expect(findings.map(({ rule, offset }) => [rule, offset])).toEqual([
      ['unknown-model', 166],
      ['unknown-model', 180],
    ]);
  });

  test.each<[string, string, TestThread[], Record<number, Record<string, unknown>>?]>([
    ['thread-state', 'an end while cooling', one(states('xce'))],
    ['empty-stream', 'a thread without events', one([])],
    ['stream', 'half an event at the end', one([...life(), Buffer.from('\0OB')])],
    ['flush', 'OF] alone', one(life(plain('OF]')))],
    ['cpu-unknown', 'a CPU that the loom has not', one([execute(T0, 2), normal('OHe', T0)])],
    ['cpus', 'no CPUs in the loom', one(life()), { 1: { cpus: undefined } }],
    [
      'cpus',
      'CPUs in two processes',
      [...one(life()), { pid: 2, events: life() }],
      { 2: { cpus } },
    ],
    ['metadata', 'no application id', one(life()), { 1: { app_id: undefined } }],
    ['metadata', 'another version', one(life()), { 1: { version: 2 } }],
    [
      'rank',
      'a rank in one process only',
      [...one(life()), { pid: 2, events: life() }],
      { 2: { rank: 0, nranks: 2 } },
    ],
  ])('%s: refuses %s', (rule, _, threads, metadata) => {
    expect(rulesOf(writeVersion1(threads, metadata)).errors).toContain(rule);
  });

  test.each<[string, string, TestThread[]]>([
    ['thread-not-ended', 'no OHe', one([execute(T0)])],
    ['clock-backwards', 'a clock that goes back', one([execute(T0 + 5n), normal('OHe', T0)])],
    [
      'clock-gap',
      'a thread that is two hours late',
      two(life(), [execute(T0 + 2n * HOUR), normal('OHe', T0 + 3n * HOUR)]),
    ],
    [
      'cpu-busy',
      'two running on one CPU',
      two([execute(T0, 0), normal('OHe', T0 + 9n)], [execute(T0 + 1n, 0), normal('OHe', T0 + 9n)]),
    ],
  ])('%s: only warns of %s', (rule, _, threads) => {
    expect(rulesOf(writeVersion1(threads))).toEqual({ errors: [], warnings: [rule] });
  });

  test('what version 3 would want is asked of a trace that is described for it', () => {
    const events = life(plain('VS@'), marking('OM=', 1, 9));
    expect(rulesOf(writeVersion1(one(events)))).toEqual({ errors: [], warnings: [] });
    const described = { tracewright: { threads: { 1: { ovni: { finished: 1 } } } } };
    expect(rulesOf(writeVersion1(one(events), { 1: described }))).toEqual({
      errors: [],
      warnings: ['model-not-required', 'mark'],
    });
  });
});
