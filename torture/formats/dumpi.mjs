// DUMPI: a file for each rank; every thread is one.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkTrace, openRank, readCalls, recoverTrace } from 'tracewright/dumpi';
import { THREADS } from '../acknowledgements.mjs';

const startTime = new Date(2026, 0, 1);
const fileOf = (place, rank) =>
  join(place, 'dumpi', `dumpi-2026.01.01.00.00.00-${String(rank).padStart(4, '0')}.bin`);
const ranks = Array.from({ length: THREADS }, (_, rank) => rank);
const filesIn = (place) =>
  ranks.map((rank) => ({ rank, path: fileOf(place, rank) })).filter(({ path }) => existsSync(path));

/** A pair goes to its place at once or not at all, and the disk may be full. */
function noteProgress(rank, n) {
  try {
    rank.keyval('seen', String(n));
  } catch (error) {
    if (error.code !== 'ERR_SYSTEM') throw error;
  }
}

export const dumpi = {
  name: 'dumpi',
  open(place, thread, options) {
    const rank = openRank({
      ...options,
      directory: join(place, 'dumpi'),
      rank: thread,
      size: THREADS,
      startTime,
      config: { timestamps: 'wall', calls: { MPI_Iprobe: 'success' } },
    });
    rank.log('MPI_Init', { argv: ['torture'] });
    rank.functionEnter('work');
    return (n) => {
      rank.log('MPI_Send', { count: n, datatype: 5, dest: 0, tag: 7, comm: 2 }, rank.enter());
      switch (n % 64) {
        case 8:
          rank.log('MPI_Iprobe', { source: 0, tag: 7, comm: 2, flag: (n >> 6) & 1, status: null });
          break;
        case 16:
          if (n % 1024 === 16) rank.annotate(`phase ${(n >> 10) % 50}`);
          break;
        case 24:
          if (n % 8192 === 24) noteProgress(rank, n);
          break;
      }
    };
  },
  recover: (place) =>
    existsSync(join(place, 'dumpi')) ? recoverTrace(join(place, 'dumpi')) : undefined,
  isThere: (place) => filesIn(place).length > 0,
  read(place, visit) {
    for (const { rank, path } of filesIn(place)) {
      for (const { name, fields } of readCalls(path)) {
        if (name === 'MPI_Send') visit(rank, fields.count);
      }
    }
  },
  check: (place) => filesIn(place).flatMap(({ path }) => [...checkTrace(path)]),
  accept: () => undefined,
};
