import { describe, expect, it } from 'vitest';
import { Comm, Datatype } from '../../../src/dumpi/constants.js';
import { checkTrace } from '../../../src/dumpi/read/check.js';
import { dump } from '../../../src/dumpi/read/dump.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { caught, open, recorded, send } from './opened-rank.js';

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
      expect([...checkTrace(rank.path)].map(({ rule }) => rule)).toEqual(['reader-copy']);
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
        const rules = [...checkTrace(rank.path)].map(({ rule }) => rule);
        // A turn of the clock is an annotation.
        expect(rules.filter((rule) => rule !== 'reader-copy')).toEqual(['no-init']);
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
