import type { Assignment } from './assignment.js';
import { nodeThreads } from './node-threads.js';
import { Peer } from './peer.js';
import { takeRank } from './thread-rank.js';
import type { ThreadRank } from './thread-rank.js';
import { tracePort } from './port.js';
import { RankRendezvous } from './rank-rendezvous.js';
import { MAIN_RANK, openRunRank } from './run-files.js';

/** Makes a worker of the main thread the rank that it was assigned. */
export function traceWorker({ number, rendezvous, files, execArgv }: Assignment): ThreadRank {
  process.execArgv = execArgv;
  const shared = new RankRendezvous(rendezvous);
  if (files === undefined) return { number, rendezvous: shared, trace: undefined };
  const own = takeRank(number, shared, () => openRunRank(files, number));
  if (own.trace !== undefined && nodeThreads.parentPort !== null) {
    tracePort(nodeThreads.parentPort, new Peer(own.trace, MAIN_RANK));
  }
  return own;
}
