import { describe, expect, it } from 'vitest';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import { caught, open, recorded, send } from './opened-rank.js';

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
