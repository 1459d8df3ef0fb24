import { describe, expect, it } from 'vitest';
import { readRows } from '../../../src/dumpi/read/rows.js';
import { firstTimeOf } from '../../../src/dumpi/read/run.js';
import { rowEvents } from '../../rows/row-events.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { writeBuilt } from '../trace-building.js';
import type { BuiltCall } from '../trace-building.js';

const directory = temporaryDirectory();
const THREAD_AND_WALL = 0x48;
/** In 2011; with nanoseconds it is beyond the integers of a double. */
const WALL_BIAS = 1_296_777_956;

const wtime: BuiltCall = {
  name: 'MPI_Wtime',
  mask: THREAD_AND_WALL,
  thread: 3,
  wall: [
    [0, 737_669_000],
    [1, 737_670_500],
  ],
  fields: {},
};

function call(name: BuiltCall['name'], changes: Partial<BuiltCall> = {}): BuiltCall {
  return { ...wtime, name, ...changes };
}

describe('the rows of a rank', () => {
  it('has a process for the rank and a complete event for each call, to the microsecond', () => {
    const fields = { count: 4, datatype: 5, dest: 1, tag: 7, comm: 2 };
    const path = writeBuilt(directory, 'run-0012.bin', {
      wallBias: WALL_BIAS,
      calls: [wtime, call('MPI_Send', { thread: 0, fields })],
    });
    const base = { cat: 'rank', ph: 'X', pid: 13, ts: 1_296_777_956_737_669, dur: 1_000_001.5 };
    expect([...rowEvents(readRows, path)].filter(({ name }) => name !== 'thread_name')).toEqual([
      { name: 'process_name', ph: 'M', ts: 0, pid: 13, tid: 0, args: { name: 'MPI rank 12' } },
      { ...base, name: 'MPI_Wtime', tid: 3 },
      { ...base, name: 'MPI_Send', tid: 0, args: fields },
    ]);
    expect(firstTimeOf(path)).toBe(1_296_777_956_737_669_000n);
  });

  it('has functions by their names, or by their addresses', () => {
    const functions = [1n, -1n].flatMap((fn) => [
      call('Function_enter', { fields: { fn } }),
      call('Function_exit', { fields: { fn } }),
    ]);
    const path = writeBuilt(directory, 'functions.bin', {
      calls: functions,
      functionNames: [{ address: 1n, name: 'solve' }],
    });
    const [process, , ...events] = [...rowEvents(readRows, path)];
    expect(process).toMatchObject({ pid: 1, args: { name: `DUMPI ${path}` } });
    expect(events.map(({ ph, name, tid }) => [ph, name, tid])).toEqual([
      ['X', 'solve', 3],
      ['X', '0xffffffffffffffff', 3],
    ]);
  });

  it('takes CPU time where there is no wall time, and leaves out what has neither', () => {
    const path = writeBuilt(directory, 'clocks.bin', {
      cpuBias: 5,
      calls: [
        call('MPI_Wtime', { mask: 0 }),
        call('MPI_Wtime', {
          mask: 0x04,
          cpu: [
            [1, 0],
            [1, 2_000],
          ],
        }),
        call('MPI_Wtime', {
          wall: [
            [9, 1],
            [9, 0],
          ],
        }),
      ],
    });
    const slices = [...rowEvents(readRows, path)].filter(({ ph }) => ph === 'X');
    expect(slices.map(({ ts, dur, tid }) => ({ ts, dur, tid }))).toEqual([
      { ts: 6_000_000, dur: 2, tid: 0 },
      { ts: 9_000_000.001, dur: 0, tid: 3 },
    ]);
    expect(firstTimeOf(path)).toBeUndefined();
  });
});
