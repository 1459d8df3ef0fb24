import { describe, expect, it } from 'vitest';
import { callNamed } from '../../../src/dumpi/calls.js';
import type { CallName } from '../../../src/dumpi/calls.js';
import { Comm } from '../../../src/dumpi/constants.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { caught, open, recorded, send } from './opened-rank.js';

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

  it('can be settled at run time', () => {
    const rank = open({ config: { timestamps: 'wall', calls: { MPI_Barrier: 'disable' } } });
    const barrier = { comm: Comm.WORLD };
    const probe = { source: 1, tag: 2, comm: Comm.WORLD, flag: 0, status: null };
    // The second call of a kind has a compiled encoder.
    for (let i = 0; i < 2; i++) {
      rank.setProfiling('MPI_Send', 'enable');
      rank.log('MPI_Send', send);
      rank.log('MPI_Send', send);
      rank.setProfiling('MPI_Send', 'disable');
      rank.log('MPI_Send', send);
      rank.profile(false);
      rank.setProfiling('MPI_Barrier', 'enable');
      rank.log('MPI_Barrier', barrier);
      rank.profile(true);
      rank.log('MPI_Barrier', barrier);
      rank.setProfiling('MPI_Iprobe', 'success');
      rank.log('MPI_Iprobe', probe);
      rank.setProfiling('MPI_Iprobe', 'enable');
      rank.log('MPI_Iprobe', probe);
    }
    expect(rank.configuration.calls.get('MPI_Send')).toBe('disable');
    expect(
      caught(() => {
        rank.setProfiling('MPI_Send', 'sometimes' as never);
      }),
    ).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', field: 'setting' });
    expect(
      caught(() => {
        rank.setProfiling('MPI_Sent' as never, 'enable');
      }),
    ).toMatchObject({ field: 'name' });
    const round = ['MPI_Send', 'MPI_Send', 'MPI_Barrier', 'MPI_Iprobe'];
    expect(recorded(rank).map(({ name }) => name)).toEqual([...round, ...round]);
    const { ignored } = readSections(rank.path).footer!;
    expect(ignored[callNamed('MPI_Send')!.label]).toBe(2);
    expect(ignored[callNamed('MPI_Barrier')!.label]).toBe(2);
    expect(ignored[callNamed('MPI_Iprobe')!.label]).toBe(2);
  });

  it('are statuses, from any call to any call', () => {
    const rank = open();
    const receive = { ...send, source: 1, status };
    const seen: unknown[] = [];
    for (const setting of ['enable', 'disable', 'success', 'enable', 'enable'] as const) {
      rank.setStatusOutput(setting);
      expect(rank.configuration.statuses).toBe(setting);
      for (let i = 0; i < 3; i++) {
        rank.log('MPI_Recv', receive);
        seen.push(setting === 'disable' ? null : status);
      }
    }
    // While a call's arguments are read.
    const args = {
      ...receive,
      get count() {
        rank.setStatusOutput('disable');
        return 4;
      },
    };
    rank.log('MPI_Recv', args);
    rank.log('MPI_Recv', receive);
    expect(
      caught(() => {
        rank.setStatusOutput(1 as never);
      }),
    ).toMatchObject({ code: 'ERR_ARGUMENT_TYPE', field: 'setting' });
    const read = recorded(rank).map((call) => call.name === 'MPI_Recv' && call.fields.status);
    expect(read).toEqual([...seen, status, null]);
  });
});

describe('the indices of requests', () => {
  const some = { count: 2, requests: [5, 6], outcount: 2, statuses: null };
  const any = { count: 2, requests: [5, 6], status: null };

  it('are recorded as MPI returned them', () => {
    const rank = open();
    rank.log('MPI_Testsome', { ...some, indices: [-1, 5] });
    rank.log('MPI_Waitany', { ...any, index: 7 });
    expect(recorded(rank)).toHaveLength(2);
  });

  it('are refused by a rank that checks them', () => {
    const rank = open({ checkIndices: true });
    for (let i = 0; i < 2; i++) {
      for (const [indices, field] of [
        [[0, 2], 'indices[1]'],
        [[-1, 0], 'indices[0]'],
        [[1, 1], 'indices[1]'],
      ] as const) {
        for (const name of ['MPI_Testsome', 'MPI_Waitsome', 'MPIO_Testsome'] as const) {
          const log = (): void => {
            rank.log(name, { ...some, indices });
          };
          expect(caught(log)).toMatchObject({
            code: 'ERR_ARGUMENT_RANGE',
            field: `${name} ${field}`,
          });
        }
      }
      for (const index of [-1, 2]) {
        expect(
          caught(() => {
            rank.log('MPI_Waitany', { ...any, index });
          }),
        ).toMatchObject({ field: 'MPI_Waitany index' });
        expect(
          caught(() => {
            rank.wrap('MPI_Testany', { ...any, index, flag: 1 }, () => {
              throw new Error('is called');
            });
          }),
        ).toMatchObject({ field: 'MPI_Testany index' });
      }
      const three = { ...some, outcount: 3, indices: null };
      expect(
        caught(() => {
          rank.log('MPI_Waitsome', three);
        }),
      ).toMatchObject({ field: 'MPI_Waitsome outcount' });
    }
    rank.log('MPI_Testsome', { ...some, indices: [1, 0] });
    rank.log('MPI_Testsome', { ...some, outcount: -32_766, indices: null });
    rank.log('MPI_Waitany', { ...any, index: 1 });
    rank.log('MPI_Waitany', { ...any, index: -32_766 });
    rank.log('MPI_Testany', { ...any, index: -1, flag: 0 });
    expect(recorded(rank)).toHaveLength(5);
  });
});
