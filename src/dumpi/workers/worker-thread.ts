import type { Assignment } from './assignment.js';
import { nodeThreads } from './assignment.js';
import { Peer } from './peer.js';
import { takeRank } from './thread-rank.js';
import type { ThreadRank } from './thread-rank.js';
import { RankRendezvous } from './rank-rendezvous.js';
import { MAIN_RANK, openRunRank } from './run-files.js';
import { syncBuiltinESMExports } from 'node:module';
import type { MessagePort } from 'node:worker_threads';
import { warnNotRecorded } from './warnings.js';

/** The method by which Node hands a message to all listeners of a port, in one call. */
const DISPATCH = Symbol.for('nodejs.internal.kHybridDispatch');
type Dispatch = (value: unknown, type: string, event?: Event) => unknown;

/** Records the messages of the port to the main thread. */
function tracePort(port: MessagePort, peer: Peer): void {
  let closed = false;
  const close = port.close.bind(port);
  port.close = () => {
    closed = true;
    close();
  };

  const post = port.postMessage.bind(port) as (
    ...all: Parameters<MessagePort['postMessage']>
  ) => unknown;
  port.postMessage = (...all: Parameters<MessagePort['postMessage']>) => {
    // Node drops what is sent then.
    if (closed) return post(...all);
    return peer.send(all[0], () => post(...all));
  };

  // Not by a listener: it would keep the worker alive, and take messages before the program listens.
  const dispatch = (port as unknown as Record<symbol, unknown>)[DISPATCH];
  if (typeof dispatch !== 'function') {
    warnNotRecorded('this version of Node hands out messages in an unknown way');
    return;
  }
  const handOut: Dispatch = (value, type, event) => {
    // An event that exists already was made by the program.
    if (event === undefined && type === 'message') peer.receive(value);
    if (event === undefined && type === 'messageerror') peer.lose();
    return (dispatch as Dispatch).call(port, value, type, event);
  };
  Object.defineProperty(port, DISPATCH, { value: handOut, configurable: true, writable: true });

  const receiveFrom = nodeThreads.receiveMessageOnPort;
  (nodeThreads as { receiveMessageOnPort: typeof receiveFrom }).receiveMessageOnPort = (from) => {
    const received = receiveFrom(from);
    if (received !== undefined && from === port) peer.receive(received.message);
    return received;
  };
  syncBuiltinESMExports();
}

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
