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
});
