import fc from 'fast-check';
import { expect, it } from 'vitest';
import { calls } from '../../../src/dumpi/calls.js';
import type { Call } from '../../../src/dumpi/calls.js';
import { isCallName } from '../../../src/dumpi/write/configuration.js';
import { openRank } from '../../../src/dumpi/index.js';
import type { Rank } from '../../../src/dumpi/index.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { checkTrace } from '../../../src/dumpi/read/check.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { callHostile, hostileValue } from '../../hostile-values.js';

const directory = temporaryDirectory();
const names = calls.filter(({ name }) => isCallName(name));
let files = 0;

type Loose = (...values: unknown[]) => unknown;
type Make = (mischief: () => void) => unknown;

/** Arguments of which one or two are hostile, and the others legal. */
function arguments_(call: Call, hostile: readonly Make[], at: number, mischief: () => void) {
  const values: Record<string, unknown> = {};
  for (const { name, encoding, dimensions } of call.fields) {
    values[name] = dimensions > 0 || encoding === 'status' ? null : encoding === 'chars' ? '' : 1;
  }
  // Arrays are what is hard.
  const fields = call.fields.filter(({ dimensions, encoding }) => dimensions > 0 || encoding === 'status'); // oxfmt-ignore
  const chosen = fields.length > 0 ? fields : call.fields;
  hostile.forEach((make, i) => {
    const field = chosen[(at + i) % Math.max(chosen.length, 1)];
    if (field !== undefined) values[field.name] = make(mischief);
    if (field?.count !== undefined) values[field.count] = 3;
  });
  return values;
}

const others: readonly ((rank: Rank, values: readonly unknown[]) => unknown)[] = [
  (rank, values) => (rank.log as Loose).apply(rank, [...values]),
  (rank, [args, timing]) => (rank.log as Loose).call(rank, 'MPI_Send', args, timing),
  (rank, [args]) => (rank.wrap as Loose).call(rank, 'MPI_Barrier', args, () => 1),
  (rank, [result]) => (rank.wrap as Loose).call(rank, 'MPI_Barrier', { comm: 2 }, () => result),
  (rank, [name, thread]) => (rank.functionEnter as Loose).call(rank, name, thread),
  (rank, [text, key]) => (rank.annotate as Loose).call(rank, text, key),
  (rank, [key, value]) => (rank.keyval as Loose).call(rank, key, value),
  (rank, [on]) => (rank.profile as Loose).call(rank, on),
  (rank, [name]) => (rank.counts as Loose).call(rank, name),
  (rank, [handle, number]) => (rank.handles.comm.define as Loose)(handle, number),
];

it('whatever is passed, the trace can be read', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.nat(names.length + 3 * others.length - 1),
          fc.array(hostileValue, { minLength: 1, maxLength: 3 }),
          fc.nat(7),
        ),
        { minLength: 1, maxLength: 10 },
      ),
      fc.constantFrom('another call', 'close', 'nothing'),
      fc.boolean(),
      (chosen, mischief, counted) => {
        let nested = false;
        const misbehave = (): void => {
          if (nested) return;
          nested = true;
          if (mischief === 'another call') {
            rank.log('MPI_Barrier', { comm: 2 });
            rank.log('MPI_Waitall', { count: 2, requests: [7, 8], statuses: null });
            rank.annotate('inner');
          }
          if (mischief === 'close') rank.close();
          nested = false;
        };
        const rank = openRank({
          directory,
          fileRoot: `r${++files}`,
          rank: 0,
          size: 1,
          ringBytes: 65_536,
          ...(counted ? { readCounters: misbehave } : {}),
          config: { timestamps: 'wall', ...(counted ? { counters: ['a'] } : {}) },
        });
        for (const [index, makers, at] of chosen) {
          const call = names[index];
          // The first of a kind takes another path than later ones.
          for (let i = 0; i < 3; i++) {
            callHostile(() =>
              call === undefined
                ? others[index % others.length]!(
                    rank,
                    makers.map((make) => make(misbehave)),
                  )
                : (rank.log as Loose).call(
                    rank,
                    call.name,
                    arguments_(call, makers, at, misbehave),
                  ),
            );
          }
        }
        callHostile(() => {
          rank.log('MPI_Barrier', { comm: 2 }, rank.enter());
        });
        rank.close();
        const faults = [...checkTrace(rank.path)].filter(({ rule }) => rule === 'unreadable');
        expect(faults).toEqual([]);
        const found = [...readCalls(rank.path)];
        const on = rank.counts('MPI_Barrier').ignored === 0;
        if (mischief !== 'close' && on) expect(found.at(-1)?.name).toBe('MPI_Barrier');
      },
    ),
    { numRuns: 50 },
  );
});

const options: readonly [string, (value: unknown) => object][] = [
  ['mesh', (value) => ({ mesh: value })],
  ['coordinates', (value) => ({ mesh: { coordinates: value, sizes: [1, 2, 3] } })],
  ['sizes', (value) => ({ mesh: { coordinates: [1], sizes: value } })],
  ['datatypeSizes', (value) => ({ datatypeSizes: value })],
  ['startTime', (value) => ({ startTime: value })],
  ['config', (value) => ({ config: value })],
  ['counters', (value) => ({ config: { counters: value }, readCounters: () => undefined })],
  ['calls', (value) => ({ config: { calls: value } })],
  ['readCounters', (value) => ({ config: { counters: ['a'] }, readCounters: value })],
  ['hostname', (value) => ({ hostname: value })],
  ['fileRoot', (value) => ({ fileRoot: value })],
  ['onFault', (value) => ({ onFault: value })],
  ['wallBias', (value) => ({ wallBias: value })],
];

it('whatever the options are, the trace can be read', () => {
  fc.assert(
    fc.property(fc.constantFrom(...options), hostileValue, ([, make], value) => {
      callHostile(() => {
        const rank = openRank({
          directory,
          fileRoot: `o${++files}`,
          rank: 0,
          size: 1,
          ringBytes: 65_536,
          ...make(value(() => undefined)),
        });
        callHostile(() => {
          rank.log('MPI_Barrier', { comm: 2 });
        });
        rank.close();
        expect([...readCalls(rank.path)].length).toBeLessThan(2);
      });
    }),
    { numRuns: 50 },
  );
});

it('counters are read before a record begins, into an array that may vanish', () => {
  let detach = false;
  const rank = openRank({
    directory,
    fileRoot: 'counters',
    rank: 0,
    size: 1,
    config: { counters: ['a', 'b'] },
    readCounters: (values) => {
      values[0] = 5n;
      values[1] = 6n;
      if (!detach) return;
      detach = false;
      structuredClone(values.buffer, { transfer: [values.buffer as ArrayBuffer] });
      rank.functionEnter('inner');
    },
  });
  for (let i = 0; i < 6; i++) {
    detach = i % 2 === 0;
    rank.log('MPI_Barrier', { comm: 2 }, rank.enter());
  }
  rank.close();
  const found = [...readCalls(rank.path)];
  expect(found.filter(({ name }) => name === 'MPI_Barrier')).toHaveLength(6);
});
