/**
 * Traces the worker threads of a program as the ranks of an MPI run, whose files an MPI simulator can
 * replay. Importing this module once, first, is all:
 *
 *     node --import tracewright/dumpi/workers pool.mjs
 *
 * The main thread is rank 0, its workers are ranks 1, 2, … in the order in which they are made. The
 * start of a thread is MPI_Init and its end MPI_Finalize; a `postMessage` of a Worker or of
 * `parentPort` is MPI_Isend, and its receipt at the other end MPI_Irecv, which takes as long as the
 * thread had nothing to do, and MPI_Wait. {@link barrier} and {@link broadcast} are MPI_Barrier and
 * MPI_Bcast. What is wrapped, for Node has no channel for it: `Worker`
 * (its constructor, `postMessage`, `terminate` and `emit`), in a worker `parentPort` (`postMessage`,
 * `close` and what hands messages to its listeners) and `receiveMessageOnPort`. Other ports,
 * BroadcastChannel, workers whose code is a text (`eval: true`), for Node does not load modules into
 * them, and the workers of workers are not traced.
 *
 * Tracing does not get in the way of the program: where it cannot be done, a warning of the process
 * says so, and the program runs on untraced.
 *
 * The files go to `TRACEWRIGHT_DUMPI_DIR`, by default the working directory; dumpi.conf applies, where
 * there is none with `timestamp wall`. A message that is never received has no receipt.
 *
 * @module dumpi/workers
 */
import { syncBuiltinESMExports } from 'node:module';
import { performance } from 'node:perf_hooks';
import type { MessagePort, Worker, WorkerOptions } from 'node:worker_threads';
import { existsSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deserialize, serialize } from 'node:v8';
import { getNote, putNote } from '../../core/process-notes.js';
import { integerIn } from '../../core/options/argument.js';
import { TracewrightError, wrongOrder } from '../../core/errors.js';
import type { CallArguments } from '../calls.js';
import { Comm, Datatype } from '../constants.js';
import { loadConfiguration } from '../write/configuration.js';
import type { ConfigurationOptions } from '../write/configuration.js';
import { rankRings } from '../file-names.js';
import { BIASES_BYTES, BODY_OFFSET } from '../layout.js';
import { Meeting } from './rank-rendezvous.js';
import { messageSize } from './message-size.js';
import { rankFileName, readMetafile, writeMetafile } from '../metafile.js';
import { openRank } from '../write/rank.js';
import type { Timing } from '../write/call-starts.js';
import type { Rank } from '../write/rank.js';
import { recoverTrace } from '../read/recover.js';

// Node's own object, whose `Worker` is replaced.
const threads = process.getBuiltinModule('node:worker_threads');

/** Tags count the messages from one rank to another; MPI promises at least these. */
const TAG_MASK = 0x7fff;
const LARGEST_COUNT = 0x7fff_ffff;
const MAIN_RANK = 0;

/** What a worker imports to get this module; in a bundled ES module the package that is installed. */
const THIS_MODULE =
  typeof __filename === 'string' ? pathToFileURL(__filename).href : 'tracewright/dumpi/workers';

const ASSIGNMENT_KEY = 'tracewright.dumpi';
const BROADCAST_NOTE = 'dumpi.broadcast';
/** As many runs of one second can be told apart. */
const MOST_ROOTS = 1000;

/** A thread that has a place in the run; without a trace where that cannot be written. */
interface Place {
  number: number;
  meeting: Meeting;
  trace: Rank | undefined;
}

/** Where a run's files are. */
interface Target {
  startTime: Date;
  directory: string;
  fileRoot: string;
}

/** What a worker is told in its environment data, of which it gets a copy when it is made. */
interface Assignment {
  number: number;
  meeting: Int32Array;
  /** Undefined in a run that is not traced. */
  target: Target | undefined;
}

function warn(message: string, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  process.emitWarning(`${message}: ${reason}`, 'TracewrightWarning');
}

let faulty = false;

/** Tells once that a call could not be recorded. */
function notRecorded(error: unknown): void {
  // A rank that the program has closed needs no word.
  if (faulty || (error instanceof TracewrightError && error.code === 'ERR_CLOSED')) return;
  faulty = true;
  warn('calls of this thread are missing in its trace', error);
}

function assignment(): Assignment | undefined {
  const assigned = threads.getEnvironmentData(ASSIGNMENT_KEY) as unknown;
  // A worker's own workers are no ranks.
  threads.setEnvironmentData(ASSIGNMENT_KEY);
  return assigned as Assignment | undefined;
}

function configuration(): ConfigurationOptions | undefined {
  const named = process.env['DUMPI_CONF'];
  const found = (named !== undefined && existsSync(named)) || existsSync('dumpi.conf');
  return found ? undefined : { timestamps: 'wall', fileRoot: loadConfiguration().fileRoot };
}

/** Options of Node that load modules, and take a value; and others that a worker may be told. */
const LOADING = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)(=|$)/;
const HARMLESS =
  /^--(no-)?(warnings|deprecation|enable-source-maps|trace-\w+|preserve-symlinks\S*|experimental-\S+|unhandled-rejections=\S+)$/;

/**
 * What a worker would inherit: Node takes everything from there, but of a list that is given, as here,
 * it refuses what holds for the whole process.
 */
function inheritedArguments(): string[] {
  const { execArgv } = process;
  return execArgv.filter(
    (each, i) =>
      LOADING.test(each) ||
      HARMLESS.test(each) ||
      (i > 0 && !each.startsWith('-') && LOADING.test(`${execArgv[i - 1]!}=`)),
  );
}

/** What cannot be told, as a property may throw, counts nothing. */
function countOf(message: unknown): number {
  try {
    return Math.min(messageSize(message), LARGEST_COUNT);
  } catch {
    return 0;
  }
}

/** The messages between this rank and another one. */
class Peer {
  readonly #own: Rank;
  readonly #rank: number;
  #sent = 0;
  #received = 0;

  constructor(own: Rank, rank: number) {
    this.#own = own;
    this.#rank = rank;
  }

  /** Posts a message and records that. One that cannot be cloned is neither sent nor recorded. */
  send<R>(message: unknown, post: () => R): R {
    // Before its buffers are handed over.
    const count = countOf(message);
    const timing = this.#enter();
    const result = post();
    const tag = this.#sent++ & TAG_MASK;
    if (timing !== undefined) this.#recordSend(count, tag, timing);
    return result;
  }

  #enter(): Timing | undefined {
    try {
      return this.#own.enter();
    } catch (error) {
      notRecorded(error);
      return undefined;
    }
  }

  #recordSend(count: number, tag: number, timing: Timing): void {
    const own = this.#own;
    const dest = this.#rank;
    try {
      const { request: requests } = own.handles;
      const request = requests.take();
      own.log(
        'MPI_Isend',
        { count, datatype: Datatype.BYTE, dest, tag, comm: Comm.WORLD, request },
        timing,
      );
      // Nobody waits for a message to leave; MPI then lets go of the request.
      own.log('MPI_Request_free', { request });
      requests.release(request);
      busyUntilNow(own);
    } catch (error) {
      notRecorded(error);
    }
  }

  receive(message: unknown): void {
    const own = this.#own;
    const source = this.#rank;
    const tag = this.#received++ & TAG_MASK;
    try {
      const timing = waitingSince(own.enter());
      const bytes = countOf(message);
      const { request: requests } = own.handles;
      const request = requests.take();
      own.log(
        'MPI_Irecv',
        { count: bytes, datatype: Datatype.BYTE, source, tag, comm: Comm.WORLD, request },
        timing,
      );
      const status = { bytes, source, tag, cancelled: 0, error: 0 };
      own.log('MPI_Wait', { request, status });
      requests.release(request);
      busyUntilNow(own);
    } catch (error) {
      notRecorded(error);
    }
  }

  /** A message has come that could not be read. */
  lose(): void {
    this.#received += 1;
  }
}

let idleMs = 0;
let lastCall = 0;

function busyUntilNow({ ring }: Rank): void {
  ring.readStamp();
  lastCall = ring.stamp[0]!;
}

/**
 * When the thread began to wait for what has come now: as long before as its event loop has been idle
 * since the last message, but not before its last call.
 */
function waitingSince(now: Timing): Timing {
  // An object where records hold more than wall time. Its CPU time stays: waiting takes none.
  const timing: unknown = now;
  const detailed = typeof timing === 'number' ? undefined : (timing as { wall: number });
  const ns = detailed === undefined ? (timing as number) : detailed.wall;
  const idle = performance.nodeTiming.idleTime;
  const since = Math.min(Math.max(lastCall, ns - (idle - idleMs) * 1e6), ns);
  idleMs = idle;
  if (detailed === undefined) return since as unknown as Timing;
  detailed.wall = since;
  return now;
}

/** Opens the trace of this thread, if that can be done, and gives the thread its place. */
function takePlace(number: number, meeting: Meeting, open: () => Rank): Place {
  let trace: Rank | undefined;
  try {
    trace = open();
  } catch (error) {
    warn('this thread is not traced', error);
  }
  try {
    trace?.log('MPI_Init', { argv: process.argv.slice(1) });
  } catch (error) {
    notRecorded(error);
  }
  // In front of the listener that closes the rank.
  process.prependListener('exit', () => {
    meeting.leave(number);
    try {
      trace?.log('MPI_Finalize', {});
    } catch {
      // Closed by the program.
    }
  });
  return { number, meeting, trace };
}

/** Opens rank 0 under the first root that no other run of this second has. */
function openMain(target: Target): Rank {
  const root = configuration()?.fileRoot ?? loadConfiguration().fileRoot;
  for (let number = 1; ; number++) {
    target.fileRoot = number === 1 ? root : `${root}-${number}`;
    try {
      return openTarget(target, MAIN_RANK);
    } catch (error) {
      const taken = error instanceof TracewrightError && error.code === 'ERR_TRACE_EXISTS';
      if (!taken || number === MOST_ROOTS) throw error;
    }
  }
}

/** The main thread: rank 0, and the workers that it makes. */
function traceMain(): Place {
  const target: Target = {
    startTime: new Date(),
    // The program may go to another one before it makes its workers.
    directory: resolve(process.env['TRACEWRIGHT_DUMPI_DIR'] ?? '.'),
    fileRoot: '',
  };
  const meeting = new Meeting();
  const own = takePlace(MAIN_RANK, meeting, () => openMain(target));
  const { trace } = own;
  const prefix = trace?.path.replace(/-\d+\.bin$/, '');
  meeting.join();

  /** What the run knows of a worker; nothing of one that is no rank. */
  interface Member {
    number: number;
    peer: Peer | undefined;
    ended: boolean;
  }

  const Untraced = threads.Worker;
  class TracedWorker extends Untraced {
    readonly #member: Member | undefined;

    constructor(filename: string | URL, options: WorkerOptions = {}) {
      // Into a worker whose code is a text, Node does not load this module.
      const isRank = !options.eval;
      const number = meeting.ranks;
      const assigned: Assignment = {
        number,
        meeting: meeting.state,
        target: trace === undefined ? undefined : target,
      };
      threads.setEnvironmentData(ASSIGNMENT_KEY, isRank ? assigned : undefined!);
      super(filename, isRank && trace !== undefined ? loading(options) : options);
      threads.setEnvironmentData(ASSIGNMENT_KEY);
      if (!isRank) return;
      meeting.join();
      const peer = trace === undefined ? undefined : new Peer(trace, number);
      this.#member = { number, peer, ended: false };
      if (prefix !== undefined) writeRanks(`${prefix}.meta`, meeting.ranks);
    }

    override postMessage(...all: Parameters<Worker['postMessage']>): void {
      const member = this.#member;
      // Node drops what is sent to a worker that has ended.
      if (member?.peer === undefined || member.ended) {
        super.postMessage(...all);
        return;
      }
      member.peer.send(all[0], () => {
        super.postMessage(...all);
      });
    }

    override terminate(...all: []): Promise<number> {
      if (this.#member !== undefined) meeting.leave(this.#member.number);
      return super.terminate(...all);
    }

    override emit(event: string | symbol, ...values: unknown[]): boolean {
      // A worker that is still being made has no member yet.
      const member = #member in this ? this.#member : undefined;
      if (member !== undefined) {
        if (event === 'message') member.peer?.receive(values[0]);
        else if (event === 'messageerror') member.peer?.lose();
        else if (event === 'exit') {
          member.ended = true;
          meeting.leave(member.number);
          // A worker that was terminated has not closed its rank.
          if (prefix !== undefined) completeRank(prefix, target, member.number);
        }
      }
      return (super.emit as (name: string | symbol, ...rest: unknown[]) => boolean)(
        event,
        ...values,
      );
    }
  }
  Object.defineProperty(TracedWorker, 'name', { value: Untraced.name });
  (threads as { Worker: typeof Worker }).Worker = TracedWorker;
  syncBuiltinESMExports();
  return own;
}

/** The options of a worker that is to load this module first. What Node refuses is left to Node. */
function loading(options: WorkerOptions): WorkerOptions {
  const given: unknown = options.execArgv ?? inheritedArguments();
  if (!Array.isArray(given)) return options;
  return { ...options, execArgv: [...(given as string[]), '--import', THIS_MODULE] };
}

function writeRanks(metafile: string, numprocs: number): void {
  try {
    writeMetafile(metafile, { ...readMetafile(metafile), numprocs });
  } catch (error) {
    warn(`${metafile} does not tell that there are ${numprocs} ranks`, error);
  }
}

/** Completes the trace of a worker that has ended. */
function completeRank(prefix: string, target: Target, rank: number): void {
  const path = rankFileName(prefix, rank);
  try {
    recoverTrace(path);
  } catch {
    // `tracewright recover` says what is wrong.
  }
  try {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > BODY_OFFSET + BIASES_BYTES) return;
    // What could not be recovered.
    if (existsSync(rankRings(path, undefined, '').calls)) return;
    // It was terminated before it could begin: a rank in which nothing happens.
    rmSync(path, { force: true });
    openTarget(target, rank).close();
  } catch (error) {
    warn(`rank ${rank} has no trace`, error);
  }
}

function openTarget(target: Target, rank: number): Rank {
  const config = configuration();
  return openRank({
    ...target,
    rank,
    size: rank + 1,
    ...(config === undefined ? {} : { config }),
  });
}

/** A worker that the main thread has made. */
function traceWorker({ number, meeting, target }: Assignment): Place {
  const shared = new Meeting(meeting);
  if (target === undefined) return { number, meeting: shared, trace: undefined };
  const own = takePlace(number, shared, () => openTarget(target, number));
  const { trace } = own;
  if (trace !== undefined && threads.parentPort !== null) {
    tracePort(threads.parentPort, new Peer(trace, MAIN_RANK));
  }
  return own;
}

/** Under this Node hands each message to what listens on a port, in one call for all of them. */
const DISPATCH = Symbol.for('nodejs.internal.kHybridDispatch');
type Dispatch = (value: unknown, type: string, event?: Event) => unknown;

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

  // No listener of our own: it would keep the worker alive and take messages before the program
  // listens.
  const dispatch = (port as unknown as Record<symbol, unknown>)[DISPATCH];
  if (typeof dispatch !== 'function') {
    notRecorded('this version of Node hands out messages in a way that is not known');
    return;
  }
  const handOut: Dispatch = (value, type, event) => {
    // With an event that is there already, the program itself has made it.
    if (event === undefined && type === 'message') peer.receive(value);
    if (event === undefined && type === 'messageerror') peer.lose();
    return (dispatch as Dispatch).call(port, value, type, event);
  };
  Object.defineProperty(port, DISPATCH, { value: handOut, configurable: true, writable: true });

  const receiveFrom = threads.receiveMessageOnPort;
  (threads as { receiveMessageOnPort: typeof receiveFrom }).receiveMessageOnPort = (from) => {
    const received = receiveFrom(from) as { message: unknown } | undefined;
    if (received !== undefined && from === port) peer.receive(received.message);
    return received;
  };
  syncBuiltinESMExports();
}

function traceThread(): Place | undefined {
  if (threads.isMainThread) return traceMain();
  const assigned = assignment();
  return assigned === undefined ? undefined : traceWorker(assigned);
}

const place = traceThread();

/**
 * The rank of this thread, for what a program has to record itself; undefined in a thread that is not
 * traced.
 */
export const rank: Rank | undefined = place?.trace;

function placeFor(call: string): Place {
  if (place === undefined) throw wrongOrder(call, 'this thread is not a rank of the trace');
  return place;
}

/** Records what all ranks have done together. */
function recordMeeting<N extends 'MPI_Barrier' | 'MPI_Bcast'>(
  own: Rank,
  name: N,
  args: CallArguments<N>,
  timing: Timing | undefined,
): void {
  try {
    own.log(name, args, timing);
    busyUntilNow(own);
  } catch (error) {
    notRecorded(error);
  }
}

/**
 * Blocks the thread until every rank that has been made calls it too, and records MPI_Barrier. As in
 * MPI a rank that never comes makes the others wait for ever.
 *
 * @throws TracewrightError `ERR_ORDER` in a thread that is no rank, and when a rank has ended, so that
 *   it cannot come any more; the message says which.
 */
export function barrier(): void {
  const { number, meeting, trace } = placeFor('barrier');
  const timing = trace?.enter();
  meeting.meet('barrier', number);
  if (trace !== undefined) recordMeeting(trace, 'MPI_Barrier', { comm: Comm.WORLD }, timing);
}

/**
 * Gives every rank what the root has, and records MPI_Bcast with the bytes of its serialised form.
 * Every rank must call it, and is blocked until all have.
 *
 * @param value what `v8.serialize` takes; only the root's counts.
 * @param root the rank whose value it is, 0 to the number of ranks - 1.
 * @throws TracewrightError `ERR_ORDER` in a thread that is no rank, and when a rank has ended.
 */
export function broadcast(value?: unknown, root = MAIN_RANK): unknown {
  const { number, meeting, trace } = placeFor('broadcast');
  integerIn('root', root, 0, meeting.ranks - 1);
  const bytes = number === root ? serialize(value) : undefined;
  const timing = trace?.enter();
  if (bytes !== undefined) putNote(BROADCAST_NOTE, bytes.toString('base64'));
  meeting.meet('broadcast', number);
  const received = bytes ?? Buffer.from(getNote(BROADCAST_NOTE), 'base64');
  // Nobody may put the next one while another still reads this one.
  meeting.meet('broadcast', number);
  if (trace !== undefined) {
    const count = received.length;
    const args = { count, datatype: Datatype.BYTE, root, comm: Comm.WORLD };
    recordMeeting(trace, 'MPI_Bcast', args, timing);
  }
  return bytes === undefined ? deserialize(received) : value;
}
