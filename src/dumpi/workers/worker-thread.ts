import type { Assignment } from './assignment.js';
import { nodeThreads } from './node-threads.js';
import { Peer } from './peer.js';
import { takePlace } from './place.js';
import type { Place } from './place.js';
import { tracePort } from './port.js';
import { RankRendezvous } from './rank-rendezvous.js';
import { MAIN_RANK, openRunRank } from './run-files.js';

/** Makes a worker of the main thread the rank that it was assigned. */
export function traceWorker({ number, rendezvous, files, execArgv }: Assignment): Place {
  process.execArgv = execArgv;
  const shared = new RankRendezvous(rendezvous);
  if (files === undefined) return { number, rendezvous: shared, trace: undefined };
  const place = takePlace(number, shared, () => openRunRank(files, number));
  if (place.trace !== undefined && nodeThreads.parentPort !== null) {
    tracePort(nodeThreads.parentPort, new Peer(place.trace, MAIN_RANK));
  }
  return place;
}
