import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { callNamed } from '../../src/dumpi/calls.js';
import { checkTrace } from '../../src/dumpi/read/check.js';
import type { CallName } from '../../src/dumpi/calls.js';
import { Comm, Datatype } from '../../src/dumpi/constants.js';
import { dump } from '../../src/dumpi/read/dump.js';
import { openRank } from '../../src/dumpi/write/rank.js';
import type { Rank } from '../../src/dumpi/write/rank.js';
import type { RankOptions } from '../../src/dumpi/write/rank-options.js';
import { readCalls } from '../../src/dumpi/read/reader.js';
import type { CallRecord } from '../../src/dumpi/read/reader.js';
import { readSections } from '../../src/dumpi/read/section-reader.js';
import { argumentsOf, anyWrittenCall, asRead, mpiCalls } from './written-calls.js';
import type { WrittenCall } from './written-calls.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-dumpi-write-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Opens rank 0 of 2 in a directory of its own. */
function open(options: Partial<RankOptions> = {}): Rank {
  return openRank({
    directory: mkdtempSync(join(folder, 'run-')),
    rank: 0,
    size: 2,
    config: { timestamps: 'wall' },
    ...options,
  });
}

function log(rank: Rank, { name, args }: WrittenCall, thread?: number): void {
  rank.log(name, args as never, undefined, thread);
}

function recorded(rank: Rank): CallRecord[] {
  rank.close();
  return [...readCalls(rank.path)];
}

function caught(action: () => void): { code: string; field: string; limit: string } {
  try {
    action();
  } catch (error) {
    return error as { code: string; field: string; limit: string };
  }
  throw new Error('nothing was thrown');
}

const send = { count: 4, datatype: Datatype.BYTE, dest: 1, tag: 7, comm: Comm.WORLD };

describe('calls', () => {
  it.each(mpiCalls.map((call) => [call.name, call] as const))(
    '%s is read as it was written, by the first encoder and the compiled one',
    (name, call) => {
      fc.assert(
        fc.property(fc.array(argumentsOf(call), { minLength: 1, maxLength: 4 }), (all) => {
          const rank = open();
          for (const args of all) rank.log(name as 'MPI_Send', args as never);
          const calls = recorded(rank);
          expect(calls.map(({ name: each }) => each)).toEqual(all.map(() => name));
          expect(calls.map(({ fields }) => fields)).toEqual(all.map((args) => asRead(call, args)));
        }),
        { numRuns: 4 },
      );
    },
  );

  it('of all kinds in any order, with clocks, threads and statuses on or off', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyWrittenCall, fc.integer({ min: 0, max: 0xffff })), { maxLength: 40 }),
        fc.constantFrom('none', 'cpu', 'wall', 'full'),
        fc.constantFrom('disable', 'success', 'enable'),
        fc.boolean(),
        (all, timestamps, statuses, threads) => {
          const rank = open({ config: { timestamps, statuses }, threads });
          for (const [call, thread] of all) log(rank, call, thread);
          const calls = recorded(rank);
          expect(calls).toHaveLength(all.length);
          calls.forEach((record, i) => {
            const [{ name, args }, thread] = all[i]!;
            const call = callNamed(name)!;
            expect(record.name).toBe(name);
            expect(record.fields).toEqual(asRead(call, args, statuses !== 'disable'));
            expect(record.thread).toBe(threads ? thread : undefined);
            expect(record.wall === undefined).toBe(timestamps !== 'wall' && timestamps !== 'full');
            expect(record.cpu === undefined).toBe(timestamps !== 'cpu' && timestamps !== 'full');
          });
          const { footer } = readSections(rank.path);
          expect(footer!.calls[290]).toBe(all.length);
          expect(footer!.ignored[290]).toBe(0);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('of arrays longer than the ring go past it', () => {
    const rank = open({ ringBytes: 65_536 });
    const long = Array.from({ length: 30_000 }, (_, i) => i - 15_000);
    const reduce = (recvcounts: number[]) => ({
      commsize: recvcounts.length,
      recvcounts,
      datatype: Datatype.INT,
      op: 3,
      comm: Comm.WORLD,
    });
    rank.log('MPI_Send', send);
    for (const counts of [long, [1], long]) rank.log('MPI_Reduce_scatter', reduce(counts));
    rank.log('MPI_Send', send);
    const calls = recorded(rank);
    expect(calls.map(({ name }) => name)).toEqual([
      'MPI_Send',
      'MPI_Reduce_scatter',
      'MPI_Reduce_scatter',
      'MPI_Reduce_scatter',
      'MPI_Send',
    ]);
    expect(calls[1]!.fields).toEqual(reduce(long));
    expect(calls[3]!.fields).toEqual(reduce(long));
    expect(readSections(rank.path).footer!.calls[290]).toBe(5);
  });

  it('that find the ring full and are to be dropped count as ignored', () => {
    const rank = open({ ringBytes: 65_536, onFull: 'drop' });
    const calls = 20_000;
    for (let i = 0; i < calls; i++) rank.log('MPI_Send', { ...send, count: i });
    const { ignored } = rank.counts('MPI_Send');
    expect(rank.dropped).toBe(ignored);
    const stored = recorded(rank).map(({ fields }) => (fields as { count: number }).count);
    expect(stored).toHaveLength(calls - ignored);
    expect(stored).toEqual([...new Set(stored)].sort((a, b) => a - b));
    const { footer } = readSections(rank.path);
    expect([footer!.calls[0], footer!.ignored[0]]).toEqual([calls, ignored]);
  });

  it('have typed arguments', () => {
    const rank = open();
    const typed = (): void => {
      // @ts-expect-error tag is missing
      rank.log('MPI_Send', { count: 1, datatype: 5, dest: 1, comm: 2 });
      // @ts-expect-error count is a number
      rank.log('MPI_Send', { count: '1', datatype: 5, dest: 1, tag: 7, comm: 2 });
      // @ts-expect-error there is no such call
      rank.log('MPI_Sent', send);
      // @ts-expect-error nor has this a record
      rank.log('MPI_Pcontrol', {});
      rank.log('MPI_Init', { argv: ['a'] });
      rank.log('MPI_Wait', { request: 2, status: null });
      rank.log('MPI_Gather', { commrank: 1, sendcount: 1, sendtype: 5, root: 0, comm: 2 });
    };
    expect(typed).toThrow('MPI_Send tag');
    rank.close();
  });

  it('takes typed arrays', () => {
    const rank = open();
    const requests = Int32Array.of(2, 3);
    for (let i = 0; i < 3; i++) {
      rank.log('MPI_Startall', { count: 2, requests });
      rank.log('MPI_Startall', { count: 2, requests: new Int8Array(requests) });
    }
    for (const { fields } of recorded(rank)) expect(fields).toEqual({ count: 2, requests: [2, 3] });
  });

  it('stores an Int32Array of any length at any place as it does an array', () => {
    const int = fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff });
    const calls = fc.array(fc.tuple(fc.array(int, { maxLength: 300 }), fc.nat(5), fc.nat(7)), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(calls, (all) => {
        const [plain, typed] = [open({ ringBytes: 65_536 }), open({ ringBytes: 65_536 })];
        for (const [values, begin, filler] of [...all, ...all, ...all]) {
          // A call of 1 byte more or less, so that the next one begins anywhere.
          const argv = ['x'.repeat(filler)];
          const inside = Int32Array.of(...new Array<number>(begin).fill(7), ...values, 7);
          const displs = inside.subarray(begin, begin + values.length);
          const call = (recvcounts: number[] | Int32Array) =>
            ({
              commsize: values.length,
              sendcounts: recvcounts,
              senddispls: null,
              sendtype: 5,
              recvcounts,
              recvdispls: recvcounts,
              recvtype: 5,
              comm: 2,
            }) as const;
          for (const [rank, given] of [
            [plain, values],
            [typed, displs],
          ] as const) {
            rank.log('MPI_Init', { argv });
            rank.log('MPI_Alltoallv', call(given as number[]));
          }
        }
        expect(recorded(typed).map(({ fields }) => fields)).toEqual(
          recorded(plain).map(({ fields }) => fields),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('takes no Int32Array at its word about its length', () => {
    class Short extends Int32Array {
      override get length(): number {
        return 30;
      }
    }
    const rank = open();
    const requests = new Short(5000).fill(9);
    for (let i = 0; i < 3; i++) rank.log('MPI_Startall', { count: 30, requests });
    rank.log('MPI_Send', send);
    const all = recorded(rank).map(({ fields }) => fields);
    expect(all.slice(0, 3)).toEqual(
      new Array(3).fill({ count: 30, requests: new Array<number>(30).fill(9) }),
    );
    expect(all[3]).toEqual(send);
  });
});

describe('wrong arguments', () => {
  const cases: [string, CallName, unknown, string, string][] = [
    ['missing', 'MPI_Send', { ...send, tag: undefined }, 'MPI_Send tag', 'ERR_ARGUMENT_TYPE'],
    ['a string', 'MPI_Send', { ...send, tag: '7' }, 'MPI_Send tag', 'ERR_ARGUMENT_TYPE'],
    ['a bigint', 'MPI_Send', { ...send, count: 1n }, 'MPI_Send count', 'ERR_ARGUMENT_TYPE'],
    ['a fraction', 'MPI_Send', { ...send, tag: 0.5 }, 'MPI_Send tag', 'ERR_ARGUMENT_RANGE'],
    ['NaN', 'MPI_Send', { ...send, tag: NaN }, 'MPI_Send tag', 'ERR_ARGUMENT_RANGE'],
    ['beyond i16', 'MPI_Send', { ...send, comm: 32_768 }, 'MPI_Send comm', 'ERR_ARGUMENT_RANGE'],
    ['beyond i32', 'MPI_Send', { ...send, count: 2 ** 31 }, 'MPI_Send count', 'ERR_ARGUMENT_RANGE'],
    ['none at all', 'MPI_Send', undefined, 'arguments of MPI_Send', 'ERR_ARGUMENT_TYPE'],
    [
      'another length than the count',
      'MPI_Startall',
      { count: 3, requests: [2, 3] },
      'MPI_Startall requests',
      'ERR_ARGUMENT_RANGE',
    ],
    ['a missing array', 'MPI_Startall', { count: 0 }, 'MPI_Startall requests', 'ERR_ARGUMENT_TYPE'],
    [
      'a wrong element',
      'MPI_Startall',
      { count: 2, requests: [2, 2.5] },
      'MPI_Startall requests[1]',
      'ERR_ARGUMENT_RANGE',
    ],
    [
      'one status of several that is ignored',
      'MPI_Waitall',
      { count: 1, requests: [2], statuses: [null] },
      'MPI_Waitall statuses[0]',
      'ERR_ARGUMENT_TYPE',
    ],
    ['a missing status', 'MPI_Wait', { request: 2 }, 'MPI_Wait status', 'ERR_ARGUMENT_TYPE'],
    [
      'a wrong status',
      'MPI_Wait',
      { request: 2, status: { bytes: 1, source: 1, tag: 1, cancelled: 200, error: 0 } },
      'MPI_Wait status.cancelled',
      'ERR_ARGUMENT_RANGE',
    ],
    [
      "the root's, missing at the root",
      'MPI_Gather',
      { commrank: 1, sendcount: 1, sendtype: 9, root: 1, comm: 2 },
      'MPI_Gather recvcount',
      'ERR_ARGUMENT_TYPE',
    ],
    ['a string with NUL', 'MPI_Init', { argv: ['a\0b'] }, 'MPI_Init argv[0]', 'ERR_ARGUMENT_RANGE'],
    [
      'a row of another length',
      'MPI_Group_range_incl',
      { group: 3, count: 1, ranges: [[1, 2]], newgroup: 4 },
      'MPI_Group_range_incl ranges[0]',
      'ERR_ARGUMENT_RANGE',
    ],
  ];
  it.each(cases)('%s: an error that names call, field and limit; nothing is written', (...all) => {
    const [, name, args, field, code] = all;
    const rank = open();
    // By the first encoder, and by the compiled one, which a good call has made.
    for (let i = 0; i < 2; i++) {
      const error = caught(() => {
        rank.log(name as 'MPI_Send', args as never);
      });
      expect(error).toMatchObject({ name: 'TracewrightError', code, field });
      expect(error.limit).toBeTypeOf('string');
      if (name === 'MPI_Send') rank.log('MPI_Send', send);
      if (name === 'MPI_Startall') rank.log('MPI_Startall', { count: 0, requests: null });
      if (name === 'MPI_Wait') rank.log('MPI_Wait', { request: 2, status: null });
    }
    const known = ['MPI_Send', 'MPI_Startall', 'MPI_Wait'].includes(name);
    expect(recorded(rank)).toHaveLength(known ? 2 : 0);
  });

  it('a thread beyond 16 bits, a name that no call has', () => {
    const rank = open();
    for (let i = 0; i < 2; i++) {
      expect(
        caught(() => {
          rank.log('MPI_Send', send, undefined, 65_536);
        }),
      ).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'thread' });
      rank.log('MPI_Send', send);
    }
    for (const name of ['MPI_Pcontrol', 'MPI_Nothing', 'Function_enter', 'constructor']) {
      expect(
        caught(() => {
          rank.log(name as 'MPI_Send', send);
        }),
      ).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'name' });
    }
    rank.close();
  });

  it('null among statuses: null for the array says that they were ignored', () => {
    const rank = open();
    const waitall = { count: 1, requests: [2], statuses: [null] };
    expect(
      caught(() => {
        rank.log('MPI_Waitall', waitall as never);
      }).limit,
    ).toContain('null for the array');
    rank.log('MPI_Waitall', { ...waitall, statuses: null });
    expect(recorded(rank).map(({ fields }) => fields)).toEqual([{ ...waitall, statuses: [] }]);
  });

  it('a timing that enter did not return', () => {
    const rank = open();
    for (const timing of [-1, 1e300, NaN, 'now', {}]) {
      expect(
        caught(() => {
          rank.log('MPI_Send', send, timing as never);
        }),
      ).toMatchObject({ field: 'timing' });
    }
    expect(recorded(rank)).toEqual([]);
  });

  it('of a rank that is closed', () => {
    const rank = open();
    rank.log('MPI_Send', send);
    rank.close();
    rank.close();
    for (const action of [
      () => {
        rank.log('MPI_Send', send);
      },
      () => {
        rank.log('MPI_Recv', { ...send, source: 1, status: null });
      },
      () => {
        rank.functionEnter('f');
      },
      () => {
        rank.annotate('a');
      },
      () => {
        rank.keyval('k', 'v');
      },
    ]) {
      expect(caught(action)).toMatchObject({ code: 'ERR_CLOSED' });
    }
    expect([...readCalls(rank.path)]).toHaveLength(1);
  });
});

describe('times', () => {
  const ns = ({ seconds, nanoseconds }: { seconds: number; nanoseconds: number }): bigint =>
    BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds);

  it.each(['wall', 'cpu', 'full'] as const)(
    'of %s: start and stop in their order',
    (timestamps) => {
      const rank = open({ config: { timestamps } });
      const before = process.hrtime.bigint();
      for (let i = 0; i < 50; i++) {
        const outer = rank.enter();
        const inner = rank.enter();
        rank.log('MPI_Send', send, inner);
        rank.log('MPI_Send', send, outer);
        rank.log('MPI_Send', send);
      }
      const after = process.hrtime.bigint();
      let last = 0n;
      recorded(rank).forEach((call, i) => {
        for (const times of [call.cpu, call.wall]) {
          if (times === undefined) continue;
          expect(ns(times.start)).toBeLessThanOrEqual(ns(times.stop));
          if (i % 3 === 2) expect(times.start).toEqual(times.stop);
        }
        if (call.wall === undefined) return;
        expect(ns(call.wall.start)).toBeGreaterThanOrEqual(before - 1_000_000n);
        expect(ns(call.wall.stop)).toBeLessThanOrEqual(after + 1_000_000n);
        expect(ns(call.wall.stop)).toBeGreaterThanOrEqual(last);
        last = ns(call.wall.stop);
      });
    },
  );

  it('past 65,535 seconds over the bias: the stream says where the seconds begin again', () => {
    const now = Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n));
    for (const turns of [0, 1, 2, 5]) {
      const bias = now - turns * 65_536 - 100;
      const rank = open({ wallBias: bias });
      const timing = rank.enter();
      rank.log('MPI_Send', send, timing);
      rank.log('MPI_Barrier', { comm: Comm.WORLD });
      const calls = recorded(rank);
      const marks = calls.filter(({ name }) => name.startsWith('Function_'));
      expect(marks).toHaveLength(2 * turns);
      const own = calls.filter(({ name }) => name.startsWith('MPI_'));
      expect(own.map(({ name }) => name)).toEqual(['MPI_Send', 'MPI_Barrier']);
      for (const { wall } of own) {
        expect(wall!.start.seconds).toBeGreaterThanOrEqual(now);
        expect(wall!.stop.seconds - now).toBeLessThan(60);
      }
      const { functionNames } = readSections(rank.path);
      expect(functionNames.some(({ name }) => name.includes('add 65536'))).toBe(turns > 0);
    }
  });

  it.each([32_768, 65_470, 65_480, 65_530, 65_535])(
    'past 65,535 seconds over the bias, and late in a turn: at second %i of the third',
    (into) => {
      const now = Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n));
      const rank = open({ wallBias: now - 2 * 65_536 - into });
      rank.log('MPI_Init', { argv: [] }, rank.enter());
      rank.log('MPI_Finalize', {}, rank.enter());
      const own = recorded(rank).filter(({ name }) => name.startsWith('MPI_'));
      expect(own).toHaveLength(2);
      for (const { wall } of own) {
        for (const { seconds } of [wall!.start, wall!.stop]) {
          expect(seconds).toBeGreaterThanOrEqual(now);
          expect(seconds - now).toBeLessThan(60);
        }
      }
      const said = [...dump(rank.path, true)].map(
        (line) => JSON.parse(line) as { name?: string; wall?: { stop: number } },
      );
      const init = said.find(({ name }) => name === 'MPI_Init')!;
      expect(Math.abs(init.wall!.stop / 1e9 - now)).toBeLessThan(60);
      expect([...checkTrace(rank.path)]).toEqual([]);
    },
  );

  it.each([
    ['in the ring', 1],
    ['longer than the ring', 40_000],
  ])('of a call that began long ago, %s: right, or moved and said so', (_, count) => {
    const now = Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n));
    const recvcounts = new Array<number>(count).fill(1);
    const args = { commsize: count, recvcounts, datatype: Datatype.INT, op: 3, comm: Comm.WORLD };
    // Seconds since the bias, what the call took in seconds, and what its record says.
    for (const [since, took, said] of [
      [65_500, 65_500, 65_500],
      [2 * 65_536 + 65_500, 65_480, 65_480],
      [70_000, 70_000, 65_400],
      [3 * 65_536 + 100, 65_300, 65_300],
      [3 * 65_536 + 100, 65_500, 65_400],
      [3 * 65_536 + 65_500, 190_000, 65_400],
    ] as const) {
      for (const before of [false, true]) {
        const rank = open({ wallBias: now - since, ringBytes: 65_536 });
        // With a call before, the turns have been told when the long one is recorded.
        if (before) rank.log('MPI_Barrier', { comm: Comm.WORLD });
        rank.log('MPI_Reduce_scatter', args, ((since - took) * 1e9) as never);
        rank.log('MPI_Finalize', {});
        const calls = recorded(rank);
        const { start, stop } = calls.find(({ name }) => name === 'MPI_Reduce_scatter')!.wall!;
        expect(Math.abs(stop.seconds - now)).toBeLessThan(60);
        expect(Math.abs(start.seconds - (now - said))).toBeLessThan(60);
        const names = readSections(rank.path).functionNames.map(({ name }) => name);
        expect(names.some((name) => name.includes(' s before its record says so'))).toBe(
          took !== said,
        );
        expect([...checkTrace(rank.path)].map(({ rule }) => rule)).toEqual(['no-init']);
      }
    }
  });

  it('of the CPU past 65,535 seconds likewise', () => {
    const bias = -3 * 65_536;
    const rank = open({ config: { timestamps: 'full' }, cpuBias: bias, wallBias: -200_000 });
    rank.log('MPI_Send', send, rank.enter());
    rank.log('MPI_Send', send, rank.enter());
    const calls = recorded(rank).filter(({ name }) => name === 'MPI_Send');
    expect(calls).toHaveLength(2);
    const used = process.cpuUsage();
    for (const { cpu, wall } of calls) {
      expect(cpu!.stop.seconds).toBeGreaterThanOrEqual(0);
      expect(cpu!.stop.seconds).toBeLessThanOrEqual((used.user + used.system) / 1e6 + 1);
      expect(
        Math.abs(wall!.stop.seconds - Number(process.hrtime.bigint() / 1_000_000_000n)),
      ).toBeLessThan(60);
    }
  });

  it('a bias in the future is refused', () => {
    const now = Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n));
    expect(caught(() => open({ wallBias: now + 1000 }))).toMatchObject({ field: 'wallBias' });
  });

  it('a bias of 2^26 seconds ago is the oldest: a mark for each turn since, and no more', () => {
    const now = Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n));
    for (const wallBias of [now - 2 ** 26 - 60, -(2 ** 31)]) {
      expect(caught(() => open({ wallBias }))).toMatchObject({
        code: 'ERR_ARGUMENT_RANGE',
        field: 'wallBias',
      });
    }
    expect(caught(() => open({ cpuBias: -(2 ** 31) }))).toMatchObject({ field: 'cpuBias' });
    const rank = open({ wallBias: now - 2 ** 26 + 60 });
    rank.log('MPI_Send', send, rank.enter());
    const calls = recorded(rank);
    expect(calls).toHaveLength(2 * 1023 + 1);
    expect(Math.abs(calls.at(-1)!.wall!.stop.seconds - now)).toBeLessThan(60);
  });
});

describe('what is not stored', () => {
  const status = { bytes: 4, source: 1, tag: 2, cancelled: 0, error: 0 };

  it('counts as called and as ignored', () => {
    const rank = open({
      config: {
        timestamps: 'wall',
        otherCalls: 'enable',
        calls: { MPI_Send: 'disable', MPI_Iprobe: 'success', MPI_Testsome: 'success' },
      },
    });
    for (let i = 0; i < 5; i++) {
      rank.log('MPI_Send', send);
      rank.log('MPI_Barrier', { comm: Comm.WORLD });
      const flag = i % 2;
      const given = flag === 1 ? status : null;
      rank.log('MPI_Iprobe', { source: 1, tag: 2, comm: Comm.WORLD, flag, status: given });
      const outcount = i === 3 ? 1 : i === 2 ? -32_766 : 0;
      const indices = outcount > 0 ? [0] : null;
      rank.log('MPI_Testsome', { count: 1, requests: [2], outcount, indices, statuses: null });
    }
    expect(rank.counts('MPI_Iprobe')).toEqual({ calls: 5, ignored: 3 });
    expect(rank.counts()).toEqual({ calls: 20, ignored: 12 });
    const calls = recorded(rank);
    expect(calls).toHaveLength(8);
    const { footer } = readSections(rank.path);
    const counted = (name: CallName): [number, number] => {
      const { label } = callNamed(name)!;
      return [footer!.calls[label]!, footer!.ignored[label]!];
    };
    expect(counted('MPI_Send')).toEqual([5, 5]);
    expect(counted('MPI_Barrier')).toEqual([5, 0]);
    expect(counted('MPI_Iprobe')).toEqual([5, 3]);
    expect(counted('MPI_Testsome')).toEqual([5, 4]);
    expect([footer!.calls[290], footer!.ignored[290]]).toEqual([20, 12]);
  });

  it('has its arguments checked all the same', () => {
    const rank = open({ config: { calls: { MPI_Testall: 'disable' } } });
    for (let i = 0; i < 2; i++) {
      expect(
        caught(() => {
          rank.log('MPI_Testall', { count: 'x' } as never);
        }),
      ).toMatchObject({ code: 'ERR_ARGUMENT_TYPE', field: 'MPI_Testall count' });
      const testall = { count: 0, requests: null, flag: 1, statuses: null };
      expect(
        caught(() => {
          rank.log('MPI_Testall', testall, undefined, -1);
        }),
      ).toMatchObject({ field: 'thread' });
      rank.log('MPI_Testall', testall);
      rank.profile(false);
      expect(
        caught(() => {
          rank.log('MPI_Send', { ...send, tag: '7' as never });
        }),
      ).toMatchObject({ field: 'MPI_Send tag' });
      rank.log('MPI_Finalize', {});
      rank.profile(true);
    }
    expect(rank.counts()).toEqual({ calls: 4, ignored: 4 });
    rank.close();
  });

  it('nor while profiling is switched off', () => {
    const rank = open();
    for (let i = 0; i < 3; i++) {
      rank.log('MPI_Send', send);
      rank.profile(false);
      rank.profile(false);
      rank.log('MPI_Send', send);
      rank.annotate('not stored');
      rank.profile(true);
    }
    expect(recorded(rank)).toHaveLength(3);
    expect(readSections(rank.path).footer!.ignored[0]).toBe(3);
  });
});

describe('functions, annotations and pairs', () => {
  it('have addresses, keys and names', () => {
    const rank = open();
    rank.functionEnter('main');
    rank.functionEnter('größe', 3);
    rank.annotate('first');
    rank.annotate('own', 4095);
    rank.annotate('another text', 4095);
    rank.functionExit('größe', 3);
    rank.functionExit('main');
    rank.keyval('key', 'value');
    rank.keyval('key', 'wert');
    const calls = recorded(rank);
    const { functionNames, keyvals, footer } = readSections(rank.path);
    const names = new Map(functionNames.map(({ address, name }) => [address, name]));
    expect(
      calls.map(({ name, fields }) => [name, names.get((fields as { fn: bigint }).fn)]),
    ).toEqual([
      ['Function_enter', 'main'],
      ['Function_enter', 'größe'],
      ['Function_enter', 'ANNOTATION: first'],
      ['Function_exit', 'ANNOTATION: first'],
      ['Function_enter', 'ANNOTATION: own'],
      ['Function_exit', 'ANNOTATION: own'],
      ['Function_enter', 'ANNOTATION: own'],
      ['Function_exit', 'ANNOTATION: own'],
      ['Function_exit', 'größe'],
      ['Function_exit', 'main'],
    ]);
    expect(functionNames.map(({ address }) => address)).toEqual([
      2n ** 32n,
      2n ** 32n + 1n,
      4096n,
      4095n,
    ]);
    expect(keyvals).toEqual([
      ['key', 'value'],
      ['key', 'wert'],
    ]);
    expect(footer!.calls.every((count) => count === 0)).toBe(true);
  });

  it('are refused by a rank that is closed, which leaves no file for them', () => {
    const rank = open();
    rank.close();
    const files = readdirSync(dirname(rank.path));
    for (const late of [
      () => {
        rank.functionEnter('late');
      },
      () => {
        rank.annotate('late', 7);
      },
    ]) {
      expect(caught(late)).toMatchObject({ code: 'ERR_CLOSED' });
    }
    expect(readdirSync(dirname(rank.path))).toEqual(files);
  });

  it('are as many and as long as one likes', () => {
    const rank = open();
    const long = 'x'.repeat(65_535 - 'ANNOTATION: '.length);
    for (let i = 0; i < 5000; i++) rank.annotate(`annotation ${i}`);
    rank.annotate(long);
    expect(
      caught(() => {
        rank.annotate(`${long}x`);
      }),
    ).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'text' });
    rank.close();
    const { functionNames } = readSections(rank.path);
    expect(functionNames).toHaveLength(5001);
    expect(functionNames[4999]!.name).toBe('ANNOTATION: annotation 4999');
    expect(functionNames[5000]!.name).toHaveLength(65_535);
  });

  it('are left out where the configuration says so', () => {
    const rank = open({ config: { functionEnter: false, functionExit: true } });
    rank.functionEnter('f');
    rank.functionExit('f');
    expect(recorded(rank).map(({ name }) => name)).toEqual(['Function_exit']);
  });
});

describe('counters', () => {
  it('are read at the start and at the end of a call', () => {
    let reading = 0n;
    const rank = open({
      config: { timestamps: 'wall', counters: ['PAPI_TOT_CYC', 'PAPI_FP_OPS'] },
      readCounters: (values) => {
        values[0] = reading;
        values[1] = -reading;
        reading += 10n;
      },
    });
    for (let i = 0; i < 2; i++) {
      rank.log('MPI_Send', send, rank.enter());
      rank.log('MPI_Send', send);
    }
    const calls = recorded(rank);
    expect(calls.map(({ counters }) => counters)).toEqual([
      [
        { enter: 0n, exit: 10n },
        { enter: 0n, exit: -10n },
      ],
      [
        { enter: 20n, exit: 20n },
        { enter: -20n, exit: -20n },
      ],
      [
        { enter: 30n, exit: 40n },
        { enter: -30n, exit: -40n },
      ],
      [
        { enter: 50n, exit: 50n },
        { enter: -50n, exit: -50n },
      ],
    ]);
    expect(readSections(rank.path).counterLabels).toEqual(['PAPI_TOT_CYC', 'PAPI_FP_OPS']);
  });
});

describe('wrap', () => {
  const recv = { count: 1, datatype: 5, source: 1, tag: 7, comm: 2 };
  const status = { bytes: 1, source: 1, tag: 7, cancelled: 0, error: 0 };

  it('records a function, what it returned included, until it is settled', async () => {
    const rank = open();
    expect(rank.wrap('MPI_Send', send, () => 5)).toBe(5);
    expect(
      rank.wrap(
        'MPI_Recv',
        (s) => ({ ...recv, status: s }),
        () => status,
      ),
    ).toBe(status);
    await expect(
      rank.wrap(
        'MPI_Recv',
        (s) => ({ ...recv, status: s }),
        () => Promise.resolve(status),
      ),
    ).resolves.toBe(status);
    expect(() =>
      rank.wrap('MPI_Send', send, () => {
        throw new Error('no');
      }),
    ).toThrow('no');
    await expect(
      rank.wrap('MPI_Send', send, () => Promise.reject(new Error('nor'))),
    ).rejects.toThrow('nor');
    expect(recorded(rank).map(({ name }) => name)).toEqual([
      'MPI_Send',
      'MPI_Recv',
      'MPI_Recv',
      'MPI_Send',
      'MPI_Send',
    ]);
  });
});

describe('wrap, where something is wrong', () => {
  const later = <T>(
    settle: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ) => ({
    then(resolve?: ((value: T) => void) | null, reject?: ((error: Error) => void) | null): void {
      queueMicrotask(() => {
        settle(resolve!, reject!);
      });
    },
  });

  it('refuses before the function is called', () => {
    const rank = open();
    let called = 0;
    const fn = (): number => ++called;
    for (const [action, field] of [
      [() => rank.wrap('MPI_Send', { ...send, tag: '7' as never }, fn), 'MPI_Send tag'],
      [() => rank.wrap('MPI_Nothing' as 'MPI_Send', send, fn), 'name'],
      [() => rank.wrap('MPI_Send', null as never, fn), 'arguments of MPI_Send'],
      [() => rank.wrap('MPI_Send', send, 7 as never), 'fn'],
    ] as const) {
      expect(caught(action)).toMatchObject({ name: 'TracewrightError', field });
    }
    rank.close();
    expect(caught(() => rank.wrap('MPI_Send', send, fn))).toMatchObject({ code: 'ERR_CLOSED' });
    expect(called).toBe(0);
  });

  it('keeps the error of the program', async () => {
    const rank = open();
    const args = { ...send };
    const fail = (): never => {
      args.tag = NaN;
      throw new Error('its own');
    };
    expect(() => rank.wrap('MPI_Send', args, fail)).toThrow('its own');
    args.tag = 7;
    const promise = rank.wrap('MPI_Send', args, () => Promise.resolve().then(fail));
    await expect(promise).rejects.toThrow('its own');
    args.tag = 7;
    const late = rank.wrap('MPI_Send', args, () => Promise.resolve(5));
    const lateError = rank.wrap('MPI_Send', args, () => Promise.reject(new Error('late')));
    rank.close();
    await expect(late).resolves.toBe(5);
    await expect(lateError).rejects.toThrow('late');
    expect([...readCalls(rank.path)]).toEqual([]);
  });

  it('waits for anything that can be awaited', async () => {
    const rank = open();
    const ready = rank.wrap('MPI_Send', send, () =>
      later<number>((resolve) => {
        resolve(5);
      }),
    );
    const failing = rank.wrap('MPI_Send', send, () =>
      later<number>((_, reject) => {
        reject(new Error('no'));
      }),
    );
    expect(rank.counts('MPI_Send').calls).toBe(0);
    expect(await (ready as unknown)).toBe(5);
    await expect(failing as unknown as Promise<number>).rejects.toThrow('no');
    expect(rank.counts('MPI_Send').calls).toBe(2);
    rank.close();
  });
});

describe('the files of a run', () => {
  it('have names of one start, and a metafile', () => {
    const directory = mkdtempSync(join(folder, 'run-'));
    const startTime = new Date(2026, 0, 2, 3, 4, 5, 678);
    const ranks = [0, 1].map((rank) =>
      openRank({
        directory,
        fileRoot: 'sub/root',
        rank,
        size: 2,
        hostname: 'host',
        username: 'me',
        startTime,
        mesh: { coordinates: [1, 2], sizes: [3, 4] },
        config: {},
      }),
    );
    for (const rank of ranks) rank.close();
    expect(readdirSync(join(directory, 'sub')).sort()).toEqual([
      'root-2026.01.02.03.04.05-0000.bin',
      'root-2026.01.02.03.04.05-0001.bin',
      'root-2026.01.02.03.04.05.meta',
    ]);
    const seconds = Math.floor(startTime.getTime() / 1000);
    expect(readFileSync(join(directory, 'sub/root-2026.01.02.03.04.05.meta'), 'utf8')).toBe(
      `hostname=host\nnumprocs=2\nusername=me\nstartime=${seconds}\nfileprefix=root-2026.01.02.03.04.05\nversion=13\nsubversion=0\nsubsubversion=0\n`,
    );
    expect(readSections(ranks[1]!.path).header).toEqual({
      version: [13, 0, 0],
      startTime: BigInt(seconds),
      hostname: 'host',
      username: 'me',
      meshCoordinates: [1, 2],
      meshSizes: [3, 4],
    });
    expect(
      caught(() => openRank({ directory, fileRoot: 'sub/root', rank: 1, size: 2, startTime })),
    ).toMatchObject({
      code: 'ERR_TRACE_EXISTS',
    });
  });

  it.each([
    [{ rank: 2 }, 'rank'],
    [{ rank: -1 }, 'rank'],
    [{ size: 0 }, 'size'],
    [{ startTime: new Date(NaN) }, 'startTime'],
    [{ hostname: 'h'.repeat(65_536) }, 'hostname'],
    [{ threads: 1 }, 'threads'],
    [{ mesh: { coordinates: [1], sizes: [] } }, 'mesh.sizes'],
    [{ mesh: { coordinates: [1], size: [1] } }, 'mesh option'],
    [{ config: { timestamp: 'wall' } }, 'config option'],
    [{ dir: '/tmp' }, 'option'],
    [{ config: { timestamps: 'both' } }, 'config.timestamps'],
    [{ config: '/nowhere/dumpi.conf' }, 'config'],
    [{ directory: 7 }, 'directory'],
  ])('refuse %j', (options, field) => {
    expect(caught(() => open(options as never))).toMatchObject({ field });
  });
});
