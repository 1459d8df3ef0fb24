import { availableParallelism } from 'node:os';
import { HAS_PART_THREADS, PartThread } from '../cache/part-thread.js';
import type { BuildTask, ShapeTask } from '../cache/part-thread.js';
import type { PartFacts } from '../parts/part-columns.js';
import { buildAndWrite, shapeAndWrite } from './part-worker.js';

const MOST_WORKERS = 8;

/** Builds parts of files in threads, as many as there are processors. */
export class PartWorkers {
  readonly #idle: PartThread[] = [];
  readonly #all: PartThread[] = [];
  readonly #waiting: ((thread: PartThread) => void)[] = [];
  readonly #limit = HAS_PART_THREADS ? Math.min(availableParallelism(), MOST_WORKERS) : 0;
  #next = 0;

  /** Builds a part, and writes it to its file. */
  async build(task: BuildTask): Promise<PartFacts> {
    if (this.#limit === 0) return buildAndWrite(task);
    const thread = this.#idle.pop() ?? this.#started() ?? (await this.#nextIdle());
    try {
      return await thread.build(task);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(thread);
      else next(thread);
    }
  }

  /** Writes the shape of a part. Does not wait until this thread is idle: it is giving lanes to rows. */
  async shape(task: ShapeTask): Promise<void> {
    if (this.#limit === 0) shapeAndWrite(task);
    else await (this.#started() ?? this.#all[this.#next++ % this.#all.length]!).shape(task);
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((thread) => thread.end()));
  }

  #nextIdle(): Promise<PartThread> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #started(): PartThread | undefined {
    if (this.#all.length === this.#limit) return undefined;
    const thread = new PartThread();
    this.#all.push(thread);
    return thread;
  }
}
