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
 * (its constructor, `postMessage` and `emit`), in a worker `parentPort` (`postMessage`, `onmessage` and
 * the methods that add and remove listeners) and `receiveMessageOnPort`. Other ports, BroadcastChannel
 * and the workers of workers are not traced.
 *
 * The files go to `TRACEWRIGHT_DUMPI_DIR`, by default the working directory; dumpi.conf applies, where
 * there is none with `timestamp wall`. A message that is never received has no receipt.
 *
 * @module dumpi/workers
 */
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { performance } from 'node:perf_hooks';
import type * as WorkerThreads from 'node:worker_threads';
import type { MessagePort, Worker, WorkerOptions } from 'node:worker_threads';
import { existsSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { core } from '../core/addon.js';
import { integerIn } from '../core/argument.js';
import { wrongOrder } from '../core/errors.js';
import { Comm, Datatype } from './constants.js';
import { loadConfiguration } from './configuration.js';
import type { ConfigurationOptions } from './configuration.js';
import { messageSize } from './message-size.js';
import { readMetafile, writeMetafile } from './metafile.js';
import { openRank } from './rank.js';
import type { Rank, Timing } from './rank.js';
import { recoverTrace } from './recover.js';

const threads = createRequire(import.meta.url)('node:worker_threads') as typeof WorkerThreads;

type TransferList = Parameters<MessagePort['postMessage']>[1];

/** Tags count the messages from one rank to another; MPI promises at least these. */
const TAG_MASK = 0x7fff;
const LARGEST_COUNT = 0x7fff_ffff;
const MAIN_RANK = 0;

/** What the ranks share: how many they are, how many have come to a barrier, and which it is. */
const ASSIGNMENT_KEY = 'tracewright.dumpi';
const STATE_BYTES = 12;
const RANKS = 0;
const ARRIVED = 1;
const MEETINGS = 2;
const BROADCAST_NOTE = 'dumpi.broadcast';
let meeting: { state: Int32Array; own: Rank } | undefined;

/** What a worker is told in its environment data, of which it gets a copy when it is made. */
interface Assignment {
  rank: number;
  startTime: Date;
  directory: string;
  state: Int32Array;
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
  send(message: unknown, post: () => void): void {
    const own = this.#own;
    // Before its buffers are handed over.
    const count = Math.min(messageSize(message), LARGEST_COUNT);
    const timing = own.enter();
    post();
    const { request: requests } = own.handles;
    const request = requests.take();
    own.log(
      'MPI_Isend',
      {
        count,
        datatype: Datatype.BYTE,
        dest: this.#rank,
        tag: this.#sent++ & TAG_MASK,
        comm: Comm.WORLD,
        request,
      },
      timing,
    );
    // Nobody waits for a message to leave; MPI then lets go of the request.
    own.log('MPI_Request_free', { request });
    requests.release(request);
    busyUntil(own.enter());
  }

  receive(message: unknown): void {
    const own = this.#own;
    const timing = waitingSince(own.enter());
    const bytes = Math.min(messageSize(message), LARGEST_COUNT);
    const { request: requests } = own.handles;
    const request = requests.take();
    const source = this.#rank;
    const tag = this.#received++ & TAG_MASK;
    own.log(
      'MPI_Irecv',
      { count: bytes, datatype: Datatype.BYTE, source, tag, comm: Comm.WORLD, request },
      timing,
    );
    const status = { bytes, source, tag, cancelled: 0, error: 0 };
    own.log('MPI_Wait', { request, status });
    requests.release(request);
    busyUntil(own.enter());
  }
}

let idleMs = 0;
let lastCall = 0;

function busyUntil(now: Timing): void {
  const ns: unknown = now;
  if (typeof ns === 'number') lastCall = ns;
}

/**
 * When the thread began to wait for what has come now: as long before as its event loop has been idle
 * since the last message, but not before its last call.
 */
function waitingSince(now: Timing): Timing {
  const ns: unknown = now;
  if (typeof ns !== 'number') return now;
  const idle = performance.nodeTiming.idleTime;
  const since = Math.max(lastCall, ns - (idle - idleMs) * 1e6);
  idleMs = idle;
  return Math.min(since, ns) as unknown as Timing;
}

function begin(rank: Rank): void {
  rank.log('MPI_Init', { argv: process.argv.slice(1) });
  // In front of the listener that closes the rank.
  process.prependListener('exit', () => {
    try {
      rank.log('MPI_Finalize', {});
    } catch {
      // Closed by the program.
    }
  });
}

/** The main thread: rank 0, and the workers that it makes. */
function traceMain(): Rank {
  const startTime = new Date();
  const directory = process.env['TRACEWRIGHT_DUMPI_DIR'] ?? '.';
  const config = configuration();
  const own = openRank({
    directory,
    rank: MAIN_RANK,
    size: 1,
    startTime,
    ...(config === undefined ? {} : { config }),
  });
  const metafile = own.path.replace(/-\d+\.bin$/, '.meta');
  const rankPath = (rank: number): string =>
    own.path.replace(/-\d+\.bin$/, `-${String(rank).padStart(4, '0')}.bin`);
  begin(own);
  const state = new Int32Array(new SharedArrayBuffer(STATE_BYTES));
  meeting = { state, own };
  let ranks = 1;
  state[RANKS] = ranks;

  const Untraced = threads.Worker;
  class TracedWorker extends Untraced {
    readonly #rank: number;
    readonly #peer: Peer;

    constructor(filename: string | URL, options: WorkerOptions = {}) {
      const rank = ranks;
      const assigned: Assignment = { rank, startTime, directory, state };
      threads.setEnvironmentData(ASSIGNMENT_KEY, assigned);
      super(filename, {
        ...options,
        execArgv: [...(options.execArgv ?? inheritedArguments()), '--import', import.meta.url],
      });
      ranks += 1;
      Atomics.store(state, RANKS, ranks);
      this.#rank = rank;
      this.#peer = new Peer(own, rank);
      writeMetafile(metafile, { ...readMetafile(metafile), numprocs: ranks });
    }

    override postMessage(message: unknown, transfer?: TransferList): void {
      this.#peer.send(message, () => {
        super.postMessage(message, transfer);
      });
    }

    override emit(event: string | symbol, ...values: unknown[]): boolean {
      if (event === 'message') this.#peer.receive(values[0]);
      // A worker that was terminated has not closed its rank.
      if (event === 'exit') completeRank(rankPath(this.#rank));
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

function completeRank(path: string): void {
  try {
    recoverTrace(path);
  } catch {
    // `tracewright recover` says what is wrong.
  }
}

type Listener = ((value: unknown) => void) | { handleEvent(event: unknown): void };

/** A worker that the main thread has made. */
function traceWorker({ rank, startTime, directory, state }: Assignment): Rank {
  const config = configuration();
  const own = openRank({
    directory,
    rank,
    size: rank + 1,
    startTime,
    ...(config === undefined ? {} : { config }),
  });
  begin(own);
  meeting = { state, own };
  if (threads.parentPort !== null) tracePort(threads.parentPort, new Peer(own, MAIN_RANK));
  return own;
}

function tracePort(port: MessagePort, peer: Peer): void {
  const post = port.postMessage.bind(port);
  port.postMessage = (message: unknown, transfer?: TransferList) => {
    peer.send(message, () => {
      post(message, transfer);
    });
  };

  // No listener of our own: it would keep the worker alive and take messages before the program
  // listens. Whichever of the program's listeners sees a message first records it.
  let seen = 0;
  const recording = (listener: Listener, dataOf: (value: unknown) => unknown) => {
    let own = seen;
    return function (this: unknown, value: unknown): void {
      own += 1;
      if (own > seen) {
        seen = own;
        peer.receive(dataOf(value));
      }
      if (typeof listener === 'function') listener.call(this, value);
      else listener.handleEvent(value);
    };
  };
  const itself = (value: unknown): unknown => value;
  const dataOfEvent = (event: unknown): unknown => (event as { data: unknown }).data;

  let wrapped = new WeakMap<object, Listener>();
  const methods = port as unknown as Record<string, (...all: unknown[]) => unknown>;
  // Some of the methods call others of them.
  const recorders = new WeakSet<object>();
  const wrapAdding = (name: string, dataOf: (value: unknown) => unknown): void => {
    const add = methods[name]!.bind(port);
    methods[name] = (type: unknown, listener: unknown, ...rest: unknown[]) => {
      const isListener = typeof listener === 'function' || typeof listener === 'object';
      if (type !== 'message' || !isListener || listener === null || recorders.has(listener)) {
        return add(type, listener, ...rest);
      }
      let recorder = wrapped.get(listener);
      // One that was added before is added but once, unless it has been taken away by its message.
      if (recorder === undefined || name === 'once') {
        recorder = recording(listener as Listener, dataOf);
        wrapped.set(listener, recorder);
        recorders.add(recorder);
      }
      return add(type, recorder, ...rest);
    };
  };
  const wrapRemoving = (name: string): void => {
    const remove = methods[name]!.bind(port);
    methods[name] = (type: unknown, listener: unknown, ...rest: unknown[]) => {
      const recorder =
        type === 'message' && listener !== null && listener !== undefined
          ? wrapped.get(listener)
          : undefined;
      if (recorder !== undefined) wrapped.delete(listener as object);
      return remove(type, recorder ?? listener, ...rest);
    };
  };
  for (const name of ['on', 'addListener', 'once']) wrapAdding(name, itself);
  wrapAdding('addEventListener', dataOfEvent);
  for (const name of ['off', 'removeListener', 'removeEventListener']) wrapRemoving(name);

  const removeAll = methods['removeAllListeners']!.bind(port);
  methods['removeAllListeners'] = (...types: unknown[]) => {
    if (types.length === 0 || types[0] === 'message') wrapped = new WeakMap();
    return removeAll(...types);
  };

  let handler: unknown = null;
  const accessor = propertyOf(port, 'onmessage');
  Object.defineProperty(port, 'onmessage', {
    configurable: true,
    enumerable: true,
    get: () => handler,
    set: (listener: unknown) => {
      handler = listener;
      const given = typeof listener === 'function' ? (listener as Listener) : undefined;
      accessor?.set?.call(port, given === undefined ? listener : recording(given, dataOfEvent));
    },
  });

  const receiveFrom = threads.receiveMessageOnPort;
  (threads as { receiveMessageOnPort: typeof receiveFrom }).receiveMessageOnPort = (from) => {
    const received = receiveFrom(from) as { message: unknown } | undefined;
    if (received !== undefined && from === port) peer.receive(received.message);
    return received;
  };
  syncBuiltinESMExports();
}

function propertyOf(object: object, name: string): PropertyDescriptor | undefined {
  for (let each: object | null = object; each !== null; each = Reflect.getPrototypeOf(each)) {
    const property = Object.getOwnPropertyDescriptor(each, name);
    if (property !== undefined) return property;
  }
  return undefined;
}

function traceThread(): Rank | undefined {
  if (threads.isMainThread) return traceMain();
  const assigned = assignment();
  return assigned === undefined ? undefined : traceWorker(assigned);
}

/**
 * The rank of this thread, for what a program has to record itself; undefined in a worker that is not
 * traced.
 */
export const rank: Rank | undefined = traceThread();

function meetingOf(call: string): { state: Int32Array; own: Rank } {
  if (meeting === undefined) throw wrongOrder(call, 'this thread is not a rank of the trace');
  return meeting;
}

/** Blocks until every rank is here. */
function meet(state: Int32Array): void {
  const number = Atomics.load(state, MEETINGS);
  if (Atomics.add(state, ARRIVED, 1) + 1 < Atomics.load(state, RANKS)) {
    while (Atomics.load(state, MEETINGS) === number) Atomics.wait(state, MEETINGS, number);
    return;
  }
  Atomics.store(state, ARRIVED, 0);
  Atomics.add(state, MEETINGS, 1);
  Atomics.notify(state, MEETINGS);
}

/**
 * Blocks the thread until every rank that has been made calls it too, and records MPI_Barrier. As in
 * MPI a rank that never comes makes the others wait for ever.
 *
 * @throws TracewrightError `ERR_ORDER` in a thread that is no rank.
 */
export function barrier(): void {
  const { state, own } = meetingOf('barrier');
  const timing = own.enter();
  meet(state);
  own.log('MPI_Barrier', { comm: Comm.WORLD }, timing);
  busyUntil(own.enter());
}

/**
 * Gives every rank what the root has, and records MPI_Bcast with the bytes of its serialised form.
 * Every rank must call it, and is blocked until all have.
 *
 * @param value what `v8.serialize` takes; only the root's counts.
 * @param root the rank whose value it is, 0 to the number of ranks - 1.
 * @throws TracewrightError `ERR_ORDER` in a thread that is no rank.
 */
export function broadcast(value?: unknown, root = MAIN_RANK): unknown {
  const { state, own } = meetingOf('broadcast');
  integerIn('root', root, 0, Atomics.load(state, RANKS) - 1);
  const bytes = own.rank === root ? serialize(value) : undefined;
  const timing = own.enter();
  if (bytes !== undefined) core.putNote(BROADCAST_NOTE, bytes.toString('base64'));
  meet(state);
  const received = bytes ?? Buffer.from(core.getNote(BROADCAST_NOTE), 'base64');
  // Nobody may put the next one while another still reads this one.
  meet(state);
  own.log(
    'MPI_Bcast',
    { count: received.length, datatype: Datatype.BYTE, root, comm: Comm.WORLD },
    timing,
  );
  busyUntil(own.enter());
  return bytes === undefined ? deserialize(received) : value;
}
