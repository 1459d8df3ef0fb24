import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callNamed } from '../../../src/dumpi/calls.js';
import type { CallName } from '../../../src/dumpi/calls.js';
import { Comm, Datatype } from '../../../src/dumpi/constants.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { argumentsOf, anyWrittenCall, asRead, mpiCalls } from '../written-calls.js';
import { caught, log, open, recorded, send } from './opened-rank.js';

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
    for (let i = 0; i < 3; i++) {
      expect(() => {
        rank.log('MPI_Startall', { count: 30, requests });
      }).toThrow(expect.objectContaining({ field: 'MPI_Startall requests', value: 5000 }));
      rank.log('MPI_Startall', { count: 5000, requests });
    }
    rank.log('MPI_Send', send);
    const all = recorded(rank).map(({ fields }) => fields);
    expect(all).toHaveLength(4);
    expect(all[2]).toEqual({ count: 5000, requests: new Array<number>(5000).fill(9) });
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
