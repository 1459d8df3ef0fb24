import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ANY_SOURCE, ANY_TAG, Comm, Datatype } from '../../../src/dumpi/constants.js';
import { readRows } from '../../../src/dumpi/read/rows.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import type { Rank } from '../../../src/dumpi/write/rank.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const directory = temporaryDirectory();
const message = { count: 4, datatype: Datatype.INT, tag: 7, comm: Comm.WORLD };
const anywhere = { ...message, source: ANY_SOURCE, tag: ANY_TAG };
const status = { bytes: 16, source: 0, tag: 7, cancelled: 0, error: 0 };

/** The calls of a run of two ranks that messages connect, as "sending call → receiving call". */
function connected(first: (rank: Rank) => void, second: (rank: Rank) => void): string[] {
  const run = mkdtempSync(join(directory, 'run-'));
  const startTime = new Date(2026, 0, 1);
  const ranks = [first, second].map((calls, number) => {
    const rank = openRank({ directory: run, rank: number, size: 2, startTime });
    rank.log('MPI_Init', { argv: [] });
    calls(rank);
    rank.log('MPI_Finalize', {});
    rank.close();
    return rank;
  });
  const meta = ranks[0]!.path.replace('-0000.bin', '.meta');
  const reading = readRows(meta, { zero: 0n, batchRows: 1 << 10 });
  const names = Array.from(reading.batches(), ({ rows, names }) =>
    Array.from(rows.name.subarray(0, rows.count), (name) => names.texts()[name]),
  );
  return reading.flows!.map(
    ({ fromBatch, fromRow, toBatch, toRow }) =>
      `${names[fromBatch]![fromRow]} → ${names[toBatch]![toRow]}`,
  );
}

const send = (rank: Rank): void => {
  rank.log('MPI_Send', { ...message, dest: 1 });
};

describe('messages between calls', () => {
  it('are connected where a receive from anywhere says whom it is from', () => {
    const receive = (said: typeof status | null) => (rank: Rank) => {
      rank.log('MPI_Recv', { ...anywhere, status: said });
    };
    expect(connected(send, receive(status))).toEqual(['MPI_Send → MPI_Recv']);
    expect(connected(send, receive(null))).toEqual([]);
    expect(connected(send, receive({ ...status, source: -3 }))).toEqual([]);
    expect(connected(send, receive({ ...status, tag: -1 }))).toEqual([]);
  });

  it('are not connected where persistent requests send some of the kind, whose starts have no order', () => {
    const persistent = (rank: Rank): void => {
      const request = rank.handles.request.take();
      send(rank);
      rank.log('MPI_Send_init', { ...message, dest: 1, request });
      rank.log('MPI_Start', { request });
    };
    const receivesTwice = (rank: Rank): void => {
      const request = rank.handles.request.take();
      rank.log('MPI_Recv_init', { ...message, source: 0, request });
      rank.log('MPI_Start', { request });
      rank.log('MPI_Recv', { ...message, source: 0, status: null });
    };
    expect(connected(persistent, receivesTwice)).toEqual([]);
    const receivesAny = (rank: Rank): void => {
      const request = rank.handles.request.take();
      rank.log('MPI_Recv_init', { ...anywhere, request });
      rank.log('MPI_Recv', { ...message, source: 0, status: null });
    };
    expect(connected(send, receivesAny)).toEqual([]);
  });
});
