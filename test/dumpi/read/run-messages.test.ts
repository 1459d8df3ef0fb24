import { describe, expect, it } from 'vitest';
import { Comm, Datatype } from '../../../src/dumpi/constants.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import type { Rank } from '../../../src/dumpi/write/rank.js';
import type { LookIndex } from '../../../src/look/index/look-index.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

const directory = temporaryDirectory();
const message = { count: 4, datatype: Datatype.INT, tag: 7, comm: Comm.WORLD };
const status = { bytes: 16, source: 0, tag: 7, cancelled: 0, error: 0 };
let run = 0;

async function indexOf(write: (first: Rank, second: Rank) => void): Promise<LookIndex> {
  const startTime = new Date(2026, 0, ++run);
  const ranks = [0, 1].map((rank) =>
    openRank({ directory, rank, size: 2, startTime, config: { timestamps: 'full' } }),
  );
  const [first, second] = ranks as [Rank, Rank];
  write(first, second);
  for (const rank of ranks) rank.close();
  return openLookIndex([first.path.replace('-0000.bin', '.meta')], { cache: false });
}

/** What lies at the ends of the messages. */
function endsOf(index: LookIndex): [string, string, number][] {
  const callOf = (row: number): string => {
    const part = index.partOf(row);
    const at = row - part.firstRow;
    return `${index.tracks[part.track[at]!]!.name} ${part.names.text(part.name[at]!)} ${at}`;
  };
  return index.messages.map(({ fromRow, toRow, bytes }) => [callOf(fromRow), callOf(toRow), bytes]);
}

describe('the messages of a run of DUMPI', () => {
  it('go from each send to its receive', async () => {
    const index = await indexOf((first, second) => {
      for (let i = 0; i < 2; i++) {
        first.log('MPI_Send', { ...message, dest: 1 });
        second.log('MPI_Recv', { ...message, source: 0, status });
      }
      // Nobody receives it, so nothing of its kind is connected.
      first.log('MPI_Send', { ...message, tag: 8, dest: 1 });
    });
    expect(endsOf(index)).toEqual([
      ['MPI rank 0 MPI_Send 0', 'MPI rank 1 MPI_Recv 0', 16],
      ['MPI rank 0 MPI_Send 1', 'MPI rank 1 MPI_Recv 1', 16],
    ]);
    const [sent] = index.messages;
    const from = index.partOf(sent!.fromRow);
    const to = index.partOf(sent!.toRow);
    expect(sent!.sent).toBe(from.start[0]! + from.offset);
    expect(sent!.received).toBe(to.start[0]! + to.duration[0]! + to.offset);
    index.close();
  });

  it('do not arrive at a wait whose indices count from 1', async () => {
    const index = await indexOf((first, second) => {
      const both = { count: 2, requests: [5, 6], outcount: 2, statuses: null };
      second.log('MPI_Irecv', { ...message, source: 0, request: 5 });
      second.log('MPI_Irecv', { ...message, tag: 9, source: 0, request: 6 });
      first.log('MPI_Send', { ...message, tag: 9, dest: 1 });
      second.log('MPI_Waitsome', { ...both, indices: [1, 2] });
    });
    expect(endsOf(index)).toEqual([['MPI rank 0 MPI_Send 0', 'MPI rank 1 MPI_Irecv 1', 16]]);
    index.close();
  });

  it('arrive when what has asked for them has waited', async () => {
    const index = await indexOf((first, second) => {
      second.log('MPI_Irecv', { ...message, source: 0, request: 5 });
      second.log('MPI_Irecv', { ...message, tag: 9, source: 0, request: 6 });
      first.log('MPI_Isend', { ...message, tag: 9, dest: 1, request: 5 });
      first.log('MPI_Send', { ...message, dest: 1 });
      second.log('MPI_Wait', { request: 6, status });
      second.log('MPI_Waitall', { count: 1, requests: [5], statuses: [status] });
      first.log('MPI_Wait', { request: 5, status });
    });
    expect(endsOf(index)).toEqual([
      ['MPI rank 0 MPI_Isend 0', 'MPI rank 1 MPI_Wait 2', 16],
      ['MPI rank 0 MPI_Send 1', 'MPI rank 1 MPI_Waitall 3', 16],
    ]);
    index.close();
  });

  it('of a rank alone are none', async () => {
    const index = await indexOf((first) => {
      first.log('MPI_Send', { ...message, dest: 1 });
    });
    expect(index.messages).toEqual([]);
    index.close();
  });
});
