// What a recorded DUMPI call costs, compared with a C++ loop that writes the same record.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Comm, Datatype, openRank } from 'tracewright/dumpi';
import { alternate, cost, costTable, ratio } from './alternating.mjs';
import { main } from './benchmark.mjs';
import { loadEventLoops } from './event-loops.mjs';

const RING_BYTES = 2 << 20;
const LOG = "log('MPI_Send')";
const ENTER = "enter + log('MPI_Send')";
const LOOP = 'C++ loop, 2 x clock_gettime';
const ALLTOALLV = "log('MPI_Alltoallv'), 64 ranks, Int32Arrays";
const PLAIN_ALLTOALLV = "log('MPI_Alltoallv'), 64 ranks, plain arrays";
const FULL = "enter + log('MPI_Send'), CPU time too";
const CPU_CLOCKS = 'C++ loop, 2 x CPU clock and nothing else';

/**
 * A loop of its own for each form of the arguments, as a service has one or the other.
 *
 * @param {import('tracewright/dumpi').Rank} rank
 * @param {number[] | Int32Array} counts
 * @returns {(count: number) => void}
 */
function alltoallvLoop(rank, counts) {
  const sendtype = Datatype.BYTE;
  const comm = Comm.WORLD;
  const body = `return (count) => {
    for (let i = 0; i < count; i++) {
      rank.log('MPI_Alltoallv', {
        commsize: 64,
        sendcounts: counts,
        senddispls: counts,
        sendtype,
        recvcounts: counts,
        recvdispls: counts,
        recvtype: sendtype,
        comm,
      });
    }
  };`;
  return new Function('rank', 'counts', 'sendtype', 'comm', body)(rank, counts, sendtype, comm);
}

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const loops = loadEventLoops();
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const rank = openRank({
      directory,
      rank: 0,
      size: 2,
      ringBytes: RING_BYTES,
      config: { timestamps: 'wall' },
    });
    const full = openRank({
      directory,
      fileRoot: 'full',
      rank: 0,
      size: 2,
      ringBytes: RING_BYTES,
      config: { timestamps: 'full' },
    });
    // A service has its counts in one form, so the two forms do not share an encoder.
    const plain = openRank({
      directory,
      fileRoot: 'plain',
      rank: 0,
      size: 2,
      ringBytes: RING_BYTES,
      config: { timestamps: 'wall' },
    });
    const place = join(directory, 'loop');
    const sender = loops.dumpiOpen(place, `${place}.ring`, RING_BYTES);

    const datatype = Datatype.BYTE;
    const comm = Comm.WORLD;
    // Every loop is a function of its own, as every call site of a service is.
    /** @param {number} count */
    const runLog = (count) => {
      for (let i = 0; i < count; i++) {
        rank.log('MPI_Send', { count: i, datatype, dest: 1, tag: 7, comm });
      }
    };
    /** @param {number} count */
    const runEnter = (count) => {
      for (let i = 0; i < count; i++) {
        const timing = rank.enter();
        rank.log('MPI_Send', { count: i, datatype, dest: 1, tag: 7, comm }, timing);
      }
    };
    /** @param {number} count */
    const runFull = (count) => {
      for (let i = 0; i < count; i++) {
        const timing = full.enter();
        full.log('MPI_Send', { count: i, datatype, dest: 1, tag: 7, comm }, timing);
      }
    };
    const counts = Array.from({ length: 64 }, (_, i) => i * 8);
    const runPlain = alltoallvLoop(plain, counts);
    const runAlltoallv = alltoallvLoop(rank, Int32Array.from(counts));

    const settle = () => rank.flush();
    const rounds = quick ? 50 : 1000;
    const sends = await alternate(
      [
        { name: LOG, run: runLog, settle },
        { name: ENTER, run: runEnter, settle },
        { name: FULL, run: runFull, settle: () => full.flush() },
        {
          name: CPU_CLOCKS,
          run: (count) => {
            loops.dumpiCpuClocks(count);
          },
        },
        {
          name: LOOP,
          run: (count) => {
            loops.dumpiSends(sender, count);
          },
          settle: () => {
            if (!loops.dumpiFlush(sender)) throw new Error(`the loop could not write ${place}`);
          },
        },
      ],
      { operations: 2000, rounds },
    );
    const collectives = await alternate(
      [
        { name: ALLTOALLV, run: runAlltoallv, settle },
        { name: PLAIN_ALLTOALLV, run: runPlain, settle: () => plain.flush() },
      ],
      // Less than half the ring, at which the drain thread would begin to work during the batch.
      { operations: 200, rounds },
    );
    rank.close();
    full.close();
    plain.close();
    loops.dumpiClose(sender);

    const logNs = cost(sends, LOG);
    const enterNs = cost(sends, ENTER);
    const allNs = cost(collectives, ALLTOALLV);
    return {
      tables: [
        costTable('MPI_Send, a record of 33 bytes with wall time', sends, [LOOP]),
        costTable('MPI_Alltoallv, a record of 1,077 bytes', collectives, []),
      ],
      goals: [
        { goal: `${LOG} at most 60 ns`, figure: logNs, met: logNs <= 60 },
        { goal: `${ENTER} at most 80 ns`, figure: enterNs, met: enterNs <= 80 },
        { goal: `${ALLTOALLV} at most 400 ns`, figure: allNs, met: allNs <= 400 },
        {
          goal: `${PLAIN_ALLTOALLV} (no limit)`,
          figure: cost(collectives, PLAIN_ALLTOALLV),
          met: true,
        },
        {
          goal: `${FULL}, as a multiple of the ${CPU_CLOCKS} (no limit)`,
          figure: ratio(sends, FULL, CPU_CLOCKS),
          met: true,
        },
        {
          goal: `${ENTER} as a multiple of the ${LOOP} (no limit)`,
          figure: ratio(sends, ENTER, LOOP),
          met: true,
        },
      ],
      notes: [
        'Plain arrays are read and tested element by element; an Int32Array is copied whole.',
        'CPU time is a system call for each reading; libdumpi reads it for every call by default.',
        `${rounds} rounds; ratios are medians over the rounds.`,
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, { title: 'The cost of a DUMPI call', measure });
