/**
 * Traces the worker threads of a program as the ranks of an MPI run, whose files an MPI simulator can
 * replay. Importing this module once, first, is all:
 *
 *     node --import tracewright/dumpi/workers pool.mjs
 *
 * The run begins when the program makes its first worker, meets in a {@link barrier} or
 * {@link broadcast}, or uses its {@link rank}. A program that does none of this leaves no files.
 *
 * The main thread is rank 0, its workers are ranks 1, 2, … in the order in which they are made. The
 * start of a thread is MPI_Init and its end MPI_Finalize; a `postMessage` of a Worker or of
 * `parentPort` is MPI_Isend, and its receipt at the other end MPI_Irecv, which takes as long as the
 * thread had nothing to do, and MPI_Wait. {@link barrier} and {@link broadcast} are MPI_Barrier and
 * MPI_Bcast.
 *
 * Node has no channel for messages, so this module wraps `Worker` (its constructor, `postMessage`,
 * `terminate` and `emit`), and in a worker `parentPort` (`postMessage`, `close` and what hands messages
 * to its listeners) and `receiveMessageOnPort`. Other ports and BroadcastChannel are not traced, nor
 * are the workers of workers. Workers whose code is a text (`eval: true`) are not traced either, since
 * Node loads no module into them.
 *
 * Tracing never fails the program. If it is not possible, the process emits a warning and the program
 * runs on untraced.
 *
 * The files go to `TRACEWRIGHT_DUMPI_DIR`, by default the working directory. dumpi.conf applies; without
 * one, only wall time is recorded. A message that is never received has no receipt.
 *
 * @module dumpi/workers
 */
import { pathToFileURL } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import { TracewrightError, wrongOrder } from '../../core/errors.js';
import { integerIn } from '../../core/options/argument.js';
import { getNote, putNote } from '../../core/process-notes.js';
import { shared } from '../../core/process-state.js';
import type { CallArguments } from '../calls.js';
import { Comm, Datatype } from '../constants.js';
import type { Timing } from '../write/call-starts.js';
import type { Rank } from '../write/rank.js';
import { nodeThreads, takeAssignment } from './assignment.js';
import { busyUntilNow } from './idle-time.js';
import { traceMain } from './main-thread.js';
import type { ThreadRank } from './thread-rank.js';
import { rankWhenUsed } from './thread-rank.js';
import { MAIN_RANK } from './run-files.js';
import { warnNotRecorded } from './warnings.js';
import { traceWorker } from './worker-thread.js';

/** Path that a worker imports for this module; in a bundled ES module the package that is installed. */
const THIS_MODULE =
  typeof __filename === 'string' ? pathToFileURL(__filename).href : 'tracewright/dumpi/workers';

const BROADCAST_NOTE = 'dumpi.broadcast';

function traceThread(): () => ThreadRank | undefined {
  if (nodeThreads.isMainThread) return traceMain(THIS_MODULE);
  const assigned = takeAssignment();
  const own = assigned === undefined ? undefined : traceWorker(assigned);
  return () => own;
}

/** One for all copies of the package in the thread. */
const rankOfThread = shared('dumpi.rank', traceThread);

/**
 * The rank of this thread, for calls that the program records itself. Undefined in a worker that is not
 * traced. That of the main thread is opened with the run: when it is first used, or with the first
 * worker, `barrier` or `broadcast`. If it cannot be opened, its calls do nothing.
 */
export const rank: Rank | undefined = nodeThreads.isMainThread
  ? rankWhenUsed(() => rankOfThread()?.trace)
  : rankOfThread()?.trace;

function rankFor(call: string): ThreadRank {
  const own = rankOfThread();
  if (own === undefined) throw wrongOrder(call, 'this thread is not a rank of the trace');
  return own;
}

/** Records a call that all ranks have made together. */
function recordCollective<N extends 'MPI_Barrier' | 'MPI_Bcast'>(
  own: Rank,
  name: N,
  args: CallArguments<N>,
  timing: Timing | undefined,
): void {
  try {
    own.log(name, args, timing);
    busyUntilNow(own);
  } catch (error) {
    warnNotRecorded(error);
  }
}

/**
 * Blocks the thread until every rank that has been made calls this, and records MPI_Barrier. As in MPI,
 * the other ranks wait for ever if one never calls it.
 *
 * @throws TracewrightError `ERR_ORDER` in a thread that is not a rank, and when a rank has ended; the
 *   message says which rank.
 */
export function barrier(): void {
  const { number, rendezvous, trace } = rankFor('barrier');
  const timing = trace?.enter();
  rendezvous.wait('barrier', number);
  if (trace !== undefined) recordCollective(trace, 'MPI_Barrier', { comm: Comm.WORLD }, timing);
}

function serialized(value: unknown): Buffer {
  try {
    return serialize(value);
  } catch (error) {
    const limit = 'a value that v8.serialize accepts';
    const message = `value must be ${limit}: ${(error as Error).message}`;
    throw new TracewrightError('ERR_ARGUMENT_TYPE', message, {
      field: 'value',
      value,
      limit,
      cause: error,
    });
  }
}

/**
 * Gives the root's value to every rank, and records MPI_Bcast with the bytes of its serialized form.
 * Every rank must call this, and is blocked until all have.
 *
 * @param value a value that `v8.serialize` accepts; those of other ranks than the root are ignored.
 * @param root the rank whose value it is, 0 to the number of ranks - 1.
 * @returns the root's value.
 * @throws TracewrightError `ERR_ORDER` in a thread that is not a rank, and when a rank has ended;
 *   `ERR_ARGUMENT_TYPE` for a value of the root that cannot be serialized.
 */
export function broadcast(value?: unknown, root = MAIN_RANK): unknown {
  const { number, rendezvous, trace } = rankFor('broadcast');
  integerIn('root', root, 0, rendezvous.ranks - 1);
  const bytes = number === root ? serialized(value) : undefined;
  const timing = trace?.enter();
  if (bytes !== undefined) putNote(BROADCAST_NOTE, bytes.toString('base64'));
  rendezvous.wait('broadcast', number);
  const received = bytes ?? Buffer.from(getNote(BROADCAST_NOTE), 'base64');
  // The next broadcast must not replace this value before every rank has read it.
  rendezvous.wait('broadcast', number);
  if (trace !== undefined) {
    const count = received.length;
    const args = { count, datatype: Datatype.BYTE, root, comm: Comm.WORLD };
    recordCollective(trace, 'MPI_Bcast', args, timing);
  }
  return bytes === undefined ? deserialize(received) : value;
}
