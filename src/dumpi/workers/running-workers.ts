import type { Worker } from 'node:worker_threads';
import { existsSync } from 'node:fs';
import { rankRings } from '../file-names.js';
import { rankFileName } from '../metafile.js';

/** How long the end of the process waits for workers that it ends, all together. */
const LIMIT_MS = 2000;
const LOOK_AGAIN_MS = 2;

const clock = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Workers that are ranks and have not ended. When the process ends, Node ends them without an event
 * for it. So the main thread does it before, and completes their traces.
 */
export class RunningWorkers {
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
