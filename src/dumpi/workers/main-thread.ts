import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { valueOf } from '../../core/settings/value-of.js';
import { rankRings } from '../file-names.js';
import { rankFileName } from '../metafile.js';
import { nodeThreads, setAssignment } from './assignment.js';
import { Peer } from './peer.js';
import { RankRendezvous } from './rank-rendezvous.js';
import { completeRank, MAIN_RANK, openMainRank, writeRankCount } from './run-files.js';
import type { RunFiles } from './run-files.js';
import { takeRank } from './thread-rank.js';
import type { ThreadRank } from './thread-rank.js';

/** How long the end of the process waits for workers that it ends, all together. */
const LIMIT_MS = 2000;
const LOOK_AGAIN_MS = 2;

const clock = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Workers that are ranks and have not ended. When the process ends, Node ends them without an event
 * for it. So the main thread does it before, and completes their traces.
 */
class RunningWorkers {
  readonly #workers = new Map<number, Worker>();
  readonly #prefix: string;
  readonly #complete: (rank: number) => void;

  /** @param complete completes the trace of a rank whose thread has ended. */
  constructor(prefix: string, complete: (rank: number) => void) {
    this.#prefix = prefix;
    this.#complete = complete;
  }

  readonly #end = (): void => {
    for (const worker of this.#workers.values()) void worker.terminate();
    const limit = performance.now() + LIMIT_MS;
    for (const rank of this.#workers.keys()) {
      this.#completeWhenEnded(rank, limit);
    }
  };

  add(rank: number, worker: Worker): void {
    this.#workers.set(rank, worker);
    // After the listeners that the program has by now: they may still use its workers.
    process.off('exit', this.#end);
    process.on('exit', this.#end);
  }

  /** The worker has ended by itself, and its trace is complete. */
  delete(rank: number): void {
    this.#workers.delete(rank);
  }

  /** A thread that runs is refused by the recovery, and leaves its ring to it when it has ended. */
  #completeWhenEnded(rank: number, limit: number): void {
    const path = rankFileName(this.#prefix, rank);
    do {
      this.#complete(rank);
      if (existsSync(path) && !existsSync(rankRings(path, undefined, '').calls)) return;
      Atomics.wait(clock, 0, 0, LOOK_AGAIN_MS);
    } while (performance.now() < limit);
  }
}

/** Options of Node that load modules and take a value, and others that a worker may be given. */
const LOADING = /^(--import|--require|-r|--loader|--experimental-loader|--conditions|-C)(=|$)/;
const HARMLESS =
  /^--(no-)?(warnings|deprecation|enable-source-maps|trace-\w+|preserve-symlinks\S*|experimental-\S+|unhandled-rejections=\S+)$/;

/**
 * The options that a worker would inherit. Node refuses options of the whole process in a list that is
 * given, as it is here.
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

/** The options of a worker that loads `module` first. Options that Node refuses stay as they are. */
function loading(module: string, options: WorkerOptions): WorkerOptions {
  const given: unknown = options.execArgv ?? inheritedArguments();
  if (!Array.isArray(given)) return options;
  return { ...options, execArgv: [...(given as string[]), '--import', module] };
}

/** The list of options that the worker's program is to see: what it would see untraced. */
function seenArguments({ execArgv }: WorkerOptions): string[] {
  return Array.isArray(execArgv) ? execArgv.map(String) : process.execArgv;
}

/** Of a worker that is no rank. */
const NOTHING: Partial<Begun> = {};

/** A worker that is a rank. */
interface Member {
  number: number;
  peer: Peer | undefined;
  ended: boolean;
}

/** The main thread's part of a run that has begun. */
interface Begun {
  own: ThreadRank;
  /** Of the files of the run; undefined if it is not traced. */
  prefix: string | undefined;
  running: RunningWorkers | undefined;
}

/**
 * Traces the workers that the main thread makes. The run, in which it is rank 0, begins with the first
 * worker, or when its rank is first asked for.
 *
 * @param module what workers import so that they are traced.
 * @returns the rank of the main thread.
 */
export function traceMain(module: string): () => ThreadRank {
  const files: RunFiles = {
    startTime: new Date(),
    // Now: the program may change its directory before it makes its workers.
    directory: resolve(valueOf('DUMPI_DIR')),
    fileRoot: '',
  };
  const rendezvous = new RankRendezvous();
  let begun: Begun | undefined;
  const begin = (): Begun => {
    if (begun !== undefined) return begun;
    const own = takeRank(MAIN_RANK, rendezvous, () => openMainRank(files));
    const prefix = own.trace?.path.replace(/-\d+\.bin$/, '');
    rendezvous.addRank();
    const running =
      prefix === undefined
        ? undefined
        : new RunningWorkers(prefix, (rank) => {
            completeRank(prefix, files, rank);
          });
    begun = { own, prefix, running };
    return begun;
  };

  const Untraced = nodeThreads.Worker;
  class TracedWorker extends Untraced {
    readonly #member: Member | undefined;

    constructor(filename: string | URL, options: WorkerOptions = {}) {
      // Node loads no module into a worker whose code is a text.
      const isRank = !options.eval;
      const { own, prefix, running } = isRank ? begin() : NOTHING;
      const trace = own?.trace;
      const number = rendezvous.ranks;
      const assigned = {
        number,
        rendezvous: rendezvous.state,
        files: trace === undefined ? undefined : files,
        execArgv: seenArguments(options),
      };
      setAssignment(isRank ? assigned : undefined);
      super(filename, isRank && trace !== undefined ? loading(module, options) : options);
      setAssignment();
      if (!isRank) return;
      rendezvous.addRank();
      const peer = trace === undefined ? undefined : new Peer(trace, number);
      this.#member = { number, peer, ended: false };
      if (prefix !== undefined) writeRankCount(`${prefix}.meta`, rendezvous.ranks);
      running?.add(number, this);
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
      if (this.#member !== undefined) rendezvous.endRank(this.#member.number);
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
          rendezvous.endRank(member.number);
          const { prefix, running } = begin();
          running?.delete(member.number);
          if (prefix !== undefined) completeRank(prefix, files, member.number);
        }
      }
      return (super.emit as (name: string | symbol, ...rest: unknown[]) => boolean)(
        event,
        ...values,
      );
    }
  }
  Object.defineProperty(TracedWorker, 'name', { value: Untraced.name });
  (nodeThreads as { Worker: typeof Worker }).Worker = TracedWorker;
  syncBuiltinESMExports();
  return () => begin().own;
}
