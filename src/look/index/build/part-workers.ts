import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { PartFacts } from '../parts/part-columns.js';
import { buildStretch } from '../parts/build-stretch.js';
import type { PartAnswer, PartTask } from './part-worker.js';
import { writePart } from '../cache/stored-part.js';

const MOST_WORKERS = 8;
/** The file of the package that contains part-worker.ts; a thread cannot load the sources. */
const CODE_FILE = codeFile();
const CODE =
  'require(require("node:worker_threads").workerData).look_index_build_part_worker.servePartWorker()';

function codeFile(): string | undefined {
  const file = typeof __dirname === 'string' ? join(__dirname, 'index.js') : '';
  return existsSync(file) ? file : undefined;
}

/** Builds parts of files in worker threads, as many as there are processors. */
export class PartWorkers {
  readonly #idle: Worker[] = [];
  readonly #all: Worker[] = [];
  readonly #waiting: PartTask[] = [];
  readonly #pending = new Map<
    number,
    { task: PartTask; resolve: (facts: PartFacts) => void; reject: (error: Error) => void }
  >();
  readonly #limit: number;

  constructor() {
    this.#limit = CODE_FILE === undefined ? 0 : Math.min(availableParallelism(), MOST_WORKERS);
  }

  /** Builds a part, and writes it to its file. */
  build(task: PartTask): Promise<PartFacts> {
    if (this.#limit === 0) return Promise.resolve(buildHere(task));
    return new Promise((resolve, reject) => {
      this.#pending.set(task.number, { task, resolve, reject });
      this.#waiting.push(task);
      this.#dispatch();
    });
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.terminate()));
  }

  #dispatch(): void {
    const task = this.#waiting[0];
    if (task === undefined) return;
    const worker = this.#idle.pop() ?? this.#started();
    if (worker === undefined) return;
    this.#waiting.shift();
    worker.postMessage(task);
  }

  #started(): Worker | undefined {
    if (this.#all.length === this.#limit) return undefined;
    const workerData = CODE_FILE;
    // The hook and loaders of the program do not concern it.
    const worker = new Worker(CODE, { eval: true, workerData, execArgv: [], env: {} });
    this.#all.push(worker);
    worker.on('message', (answer: PartAnswer) => {
      const pending = this.#pending.get(answer.number)!;
      this.#pending.delete(answer.number);
      if ('facts' in answer) pending.resolve(answer.facts);
      else pending.reject(new Error(answer.error));
      this.#idle.push(worker);
      this.#dispatch();
    });
    worker.on('error', (error) => {
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    });
    return worker;
  }
}

function buildHere(task: PartTask): PartFacts {
  const built = buildStretch(task);
  writePart(task.out, built);
  return built.facts;
}
