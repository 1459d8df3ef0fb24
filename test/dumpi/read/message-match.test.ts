import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRun } from '../../../src/dumpi/read/check.js';
import { ANY_SOURCE, ANY_TAG, Comm, Datatype } from '../../../src/dumpi/constants.js';
import { rankFileName, writeMetafile } from '../../../src/dumpi/metafile.js';
import { openRank } from '../../../src/dumpi/write/rank.js';
import type { Rank } from '../../../src/dumpi/write/rank.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { writeBuilt } from '../trace-building.js';

const directory = temporaryDirectory();

type Config = Parameters<typeof openRank>[0]['config'] & object;

/** What the check of a run finds, whose ranks make these calls between MPI_Init and MPI_Finalize. */
function found(
  ranks: readonly ((rank: Rank) => void)[],
  config: Config = { timestamps: 'none' },
): string[] {
  const run = mkdtempSync(join(directory, 'run-'));
  const startTime = new Date(2026, 0, 1);
  let meta = '';
  ranks.forEach((calls, number) => {
    const rank = openRank({ directory: run, rank: number, size: ranks.length, startTime, config });
    if (number === 0) meta = rank.path.replace('-0000.bin', '.meta');
    rank.log('MPI_Init', { argv: [] });
    calls(rank);
    rank.log('MPI_Finalize', {});
    rank.close();
  });
  return [...checkRun(meta)].map(
    ({ severity, rule, message }) => `${severity} ${rule}: ${message}`,
  );
}

const message: { count: number; datatype: number; tag: number; comm: number } = {
  count: 4,
  datatype: Datatype.INT,
  tag: 7,
  comm: Comm.WORLD,
};
const status = { bytes: 16, source: 0, tag: 7, cancelled: 0, error: 0 };

function send(rank: Rank, changes: Partial<typeof message> = {}): void {
  rank.log('MPI_Send', { ...message, dest: 1, ...changes });
}

function receive(
  rank: Rank,
  changes: Partial<typeof message & { source: number; status: typeof status | null }> = {},
): void {
  rank.log('MPI_Recv', { ...message, source: 0, status: null, ...changes });
}

function twice(call: (rank: Rank) => void): (rank: Rank) => void {
  return (rank) => {
    call(rank);
    call(rank);
  };
}

describe('check of a run', () => {
  it('accepts messages that have both their ends, whatever calls they are made by', () => {
    const { count, datatype, tag, comm } = message;
    const both = (peer: number) => (rank: Rank) => {
      const { request: requests } = rank.handles;
      const [sending, receiving] = [requests.take(), requests.take()];
      const sends = { ...message, dest: peer, request: sending };
      const receives = { ...message, source: peer, request: receiving };
      rank.log('MPI_Isend', sends);
      rank.log('MPI_Irecv', receives);
      rank.log('MPI_Ssend_init', sends);
      rank.log('MPI_Recv_init', receives);
      rank.log('MPI_Startall', { count: 2, requests: [sending, receiving] });
      rank.log('MPI_Start', { request: sending });
      rank.log('MPI_Start', { request: receiving });
      const replace = { count, datatype, sendtag: tag, recvtag: tag, comm, status: null };
      rank.log('MPI_Sendrecv_replace', { ...replace, dest: peer, source: peer });
    };
    expect(found([both(1), both(0)])).toEqual([]);
    expect(found([twice(send), twice(receive)])).toEqual([]);
    const nowhere = (rank: Rank): void => {
      rank.log('MPI_Send', { ...message, dest: -2 });
    };
    expect(found([nowhere, nowhere])).toEqual([]);
  });

  it('tells sends without receives, receives without sends, and tags that differ', () => {
    const nothing = (): void => undefined;
    expect(found([twice(send), receive])).toEqual([
      'warning unmatched-message: rank 0 sends 2 messages with tag 7 to rank 1, which has 1 receives for them',
    ]);
    expect(
      found([
        nothing,
        (rank) => {
          receive(rank);
        },
      ]),
    ).toEqual([
      'warning unmatched-message: rank 0 sends 0 messages with tag 7 to rank 1, which has 1 receives for them',
    ]);
    const other = (rank: Rank): void => {
      receive(rank, { tag: 8 });
    };
    expect(
      found([
        (rank) => {
          send(rank);
        },
        other,
      ]),
    ).toHaveLength(2);
    const elsewhere = (rank: Rank): void => {
      receive(rank, { comm: Comm.FIRST_USER });
    };
    expect(
      found([
        (rank) => {
          send(rank);
        },
        elsewhere,
      ]),
    ).toHaveLength(1);
  });

  it('tells messages that are larger than there is room for', () => {
    const small = (rank: Rank): void => {
      receive(rank, { count: 15, datatype: Datatype.BYTE });
    };
    const large = (rank: Rank): void => {
      receive(rank, { count: 17, datatype: Datatype.BYTE });
    };
    expect(
      found([
        (rank) => {
          send(rank);
        },
        large,
      ]),
    ).toEqual([]);
    expect(
      found([
        (rank) => {
          send(rank);
        },
        small,
      ]),
    ).toEqual([
      'warning message-size: rank 0 sends 1 messages with tag 7 to rank 1, in all 1 bytes more than that has room for',
    ]);
  });

  it('reports a message of a user-defined datatype that is larger than its receive', () => {
    const { INT } = Datatype;
    const contiguous = (rank: Rank, count: number, newtype: number): void => {
      rank.log('MPI_Type_contiguous', { count, oldtype: INT, newtype });
      rank.log('MPI_Type_commit', { datatype: newtype });
    };
    const six = (rank: Rank): void => {
      contiguous(rank, 1500, 28);
      send(rank, { count: 1, datatype: 28 });
    };
    const four = (rank: Rank): void => {
      receive(rank, { count: 1, datatype: INT });
    };
    const finding =
      'warning message-size: rank 0 sends 1 messages with tag 7 to rank 1, in all 5996 bytes more than that has room for';
    expect(found([six, four])).toEqual([finding]);
    expect(
      found([six, four], { timestamps: 'none', calls: { MPI_Type_contiguous: 'disable' } }),
    ).toEqual([finding]);
    // The number is used again, for a datatype that the section of the sizes does not list.
    const reusing = (rank: Rank): void => {
      contiguous(rank, 1500, 28);
      rank.log('MPI_Type_free', { datatype: 28 });
      contiguous(rank, 1, 28);
      send(rank, { count: 1, datatype: 28 });
    };
    expect(found([reusing, four])).toEqual([]);
    expect(
      found([reusing, four], { timestamps: 'none', calls: { MPI_Type_contiguous: 'disable' } }),
    ).toEqual([]);
    // Of an unknown size, until the program says it.
    const unknown = (rank: Rank): void => {
      send(rank, { count: 1, datatype: 40 });
    };
    const known = (rank: Rank): void => {
      rank.datatypeSize(40, 6000);
      unknown(rank);
    };
    expect(found([unknown, four])).toEqual([]);
    expect(found([known, four])).toEqual([finding]);
  });

  it('takes receives from anywhere by their status, or for any message', () => {
    const anywhere = { source: ANY_SOURCE, tag: ANY_TAG };
    const told = (rank: Rank): void => {
      receive(rank, { ...anywhere, status });
    };
    const untold = (rank: Rank): void => {
      receive(rank, anywhere);
    };
    const sendOne = (rank: Rank): void => {
      send(rank);
    };
    expect(found([sendOne, told])).toEqual([]);
    expect(found([sendOne, untold])).toEqual([]);
    for (const negative of [{ source: -3 }, { tag: -2 }]) {
      const odd = (rank: Rank): void => {
        receive(rank, { ...anywhere, status: { ...status, ...negative } });
      };
      expect(found([sendOne, odd])).toEqual([]);
    }
    expect(found([twice(sendOne), untold])).toHaveLength(1);
    expect(found([twice(sendOne), twice(untold)])).toEqual([]);
  });

  it('compares nothing where calls are not stored, or a rank cannot be read', () => {
    const sendOne = (rank: Rank): void => {
      send(rank);
    };
    const receiveOne = (rank: Rank): void => {
      receive(rank);
    };
    const config = { timestamps: 'none', calls: { MPI_Recv: 'disable' } } as const;
    expect(found([sendOne, receiveOne], config)).toEqual([]);
    const meta = join(directory, 'broken.meta');
    writeMetafile(meta, {
      hostname: 'host',
      numprocs: 2,
      username: '<none>',
      startTime: 1_795_220_230,
      fileprefix: 'broken',
      version: [13, 0, 0],
    });
    const init = { name: 'MPI_Init', mask: 0, fields: { argv: [] } } as const;
    const lone = { name: 'MPI_Send', mask: 0, fields: { ...message, dest: 1 } } as const;
    const end = { name: 'MPI_Finalize', mask: 0, fields: {} } as const;
    writeBuilt(directory, rankFileName('broken', 0), { calls: [init, lone, end] });
    expect([...checkRun(meta)].map(({ rule }) => rule)).toEqual(['missing-rank']);
    const counted = { ...init, mask: 0x80, counters: [[1n, 2n]] } as const;
    writeBuilt(directory, rankFileName('broken', 1), { calls: [counted] });
    expect([...checkRun(meta)].map(({ rule }) => rule)).toEqual(['bad-call']);
  });

  /** In the communicator, a message from its first rank to its second, or but the sending of it. */
  function talk(rank: Rank, comm: number, own: number, isReceived = true): void {
    if (own === 0) rank.log('MPI_Send', { ...message, comm, dest: 1 });
    if (own === 1 && isReceived) {
      rank.log('MPI_Recv', { ...message, comm, source: 0, status: null });
    }
  }

  it('compares what is sent in communicators of a split, whatever numbers they have', () => {
    // Odd and even ranks, the last first: 3, 1 and 2, 0.
    const split =
      (own: number, isReceived = true) =>
      (rank: Rank): void => {
        // A rank with other communicators of its own numbers the new one otherwise.
        const newcomm = Comm.FIRST_USER + own;
        rank.log('MPI_Comm_dup', { oldcomm: Comm.WORLD, newcomm: 90 });
        rank.log('MPI_Comm_split', { oldcomm: 90, color: own % 2, key: -own, newcomm });
        talk(rank, newcomm, own < 2 ? 1 : 0, isReceived);
        talk(rank, 90, own);
      };
    expect(found([split(0), split(1), split(2), split(3)])).toEqual([]);
    expect(found([split(0), split(1, false), split(2), split(3)])).toEqual([
      'warning unmatched-message: rank 3 sends 1 messages with tag 7 to rank 1, in a communicator of 2 ranks, which has 0 receives for them',
    ]);
  });

  it('compares what is sent in communicators of groups and grids', () => {
    const grouped =
      (own: number, isReceived = true) =>
      (rank: Rank): void => {
        const at = [2, 0].indexOf(own);
        rank.log('MPI_Comm_group', { comm: Comm.WORLD, group: 5 });
        rank.log('MPI_Group_incl', { group: 5, count: 2, ranks: [2, 0], newgroup: 6 });
        const newcomm = at < 0 ? Comm.NULL : 7;
        rank.log('MPI_Comm_create', { oldcomm: Comm.WORLD, group: 6, newcomm });
        if (at >= 0) talk(rank, newcomm, at, isReceived);
        const grid = { ndim: 1, dims: [2], periods: [0], reorder: 0 };
        rank.log('MPI_Cart_create', {
          oldcomm: Comm.WORLD,
          ...grid,
          newcomm: own < 2 ? 8 : Comm.NULL,
        });
        if (own < 2) talk(rank, 8, own);
      };
    expect(found([grouped(0), grouped(1), grouped(2)])).toEqual([]);
    expect(found([grouped(0, false), grouped(1), grouped(2)])).toEqual([
      'warning unmatched-message: rank 2 sends 1 messages with tag 7 to rank 0, in a communicator of 2 ranks, which has 0 receives for them',
    ]);
  });

  it('compares what is sent in communicators of what others left of a group', () => {
    const grouped =
      (own: number, isReceived = true) =>
      (rank: Rank): void => {
        rank.log('MPI_Comm_group', { comm: Comm.WORLD, group: 5 });
        rank.log('MPI_Group_excl', { group: 5, count: 1, ranks: [1], newgroup: 6 });
        // Counted in what is left: rank 2 of the run.
        rank.log('MPI_Group_excl', { group: 6, count: 1, ranks: [1], newgroup: 7 });
        const at = [0, 3].indexOf(own);
        const newcomm = at < 0 ? Comm.NULL : 8;
        rank.log('MPI_Comm_create', { oldcomm: Comm.WORLD, group: 7, newcomm });
        if (at >= 0) talk(rank, newcomm, at, isReceived);
        const atAll = [0, 2, 3].indexOf(own);
        const all = atAll < 0 ? Comm.NULL : 9;
        rank.log('MPI_Comm_create', { oldcomm: Comm.WORLD, group: 6, newcomm: all });
        if (atAll === 0 || atAll === 1) talk(rank, all, atAll, isReceived);
      };
    expect(found([0, 1, 2, 3].map((own) => grouped(own)))).toEqual([]);
    expect(found([grouped(0), grouped(1), grouped(2, false), grouped(3)])).toEqual([
      'warning unmatched-message: rank 0 sends 1 messages with tag 7 to rank 2, in a communicator of 3 ranks, which has 0 receives for them',
    ]);
    expect(found([grouped(0), grouped(1), grouped(2), grouped(3, false)])).toEqual([
      'warning unmatched-message: rank 0 sends 1 messages with tag 7 to rank 3, in a communicator of 2 ranks, which has 0 receives for them',
    ]);
  });

  it('leaves out communicators of which the trace does not say who is in them', () => {
    const reordered = (own: number) => (rank: Rank) => {
      const grid = { ndim: 1, dims: [2], periods: [0], reorder: 1 };
      rank.log('MPI_Cart_create', { oldcomm: Comm.WORLD, ...grid, newcomm: 4 });
      talk(rank, 4, own, false);
      // A number that is used again is another communicator.
      rank.log('MPI_Comm_free', { comm: 4 });
      talk(rank, 4, own, false);
    };
    expect(found([reordered(0), reordered(1)])).toEqual([]);
    const alone = (own: number) => (rank: Rank) => {
      if (own === 0) {
        rank.log('MPI_Comm_split', { oldcomm: Comm.WORLD, color: 0, key: 0, newcomm: 4 });
      }
      talk(rank, 4, own, false);
    };
    expect(found([alone(0), alone(1)])).toEqual([]);
    const duplicated = (own: number) => (rank: Rank) => {
      rank.log('MPI_Comm_dup', { oldcomm: Comm.WORLD, newcomm: 4 });
      talk(rank, 4, own, false);
    };
    expect(found([duplicated(0), duplicated(1)])).toHaveLength(1);
    const config = { timestamps: 'none', calls: { MPI_Cart_create: 'disable' } } as const;
    const unstored = (own: number) => (rank: Rank) => {
      reordered(own)(rank);
      duplicated(own)(rank);
    };
    expect(found([unstored(0), unstored(1)], config)).toEqual([]);
  });
});
