import type { Rank } from '../write/rank.js';
import type { RankRendezvous } from './rank-rendezvous.js';
import { warn, warnNotRecorded } from './warnings.js';

/** What a thread is in the run. */
export interface ThreadRank {
  number: number;
  rendezvous: RankRendezvous;
  /** Undefined if the trace cannot be written. */
  trace: Rank | undefined;
}

/** Gives this thread its rank, and opens its trace if possible. */
export function takeRank(number: number, rendezvous: RankRendezvous, open: () => Rank): ThreadRank {
  let trace: Rank | undefined;
  try {
    trace = open();
  } catch (error) {
    warn('this thread is not traced', error);
  }
  try {
    trace?.log('MPI_Init', { argv: process.argv.slice(1) });
  } catch (error) {
    warnNotRecorded(error);
  }
  // Before the listener that closes the rank.
  process.prependListener('exit', () => {
    rendezvous.endRank(number);
    try {
      trace?.log('MPI_Finalize', {});
    } catch {
      // Closed by the program.
    }
  });
  return { number, rendezvous, trace };
}
