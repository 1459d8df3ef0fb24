import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ShapeTask } from '../cache/stored-source.js';
import type { PartFacts } from '../parts/part-columns.js';
import { buildAndWrite, shapeAndWrite } from './part-worker.js';
import type { PartTask, WorkerAnswer, WorkerTask } from './part-worker.js';

const MOST_WORKERS = 8;
/** The file of the package that contains part-worker.ts; a thread cannot load the sources. */
const CODE_FILE = codeFile();
const CODE =
  'require(require("node:worker_threads").workerData).look_index_build_part_worker.servePartWorker()';

function codeFile(): string | undefined {
  const file = typeof __dirname === 'string' ? join(__dirname, 'index.js') : '';
  return existsSync(file) ? file : undefined;
}

interface Pending {
  resolve: (facts: PartFacts | undefined) => void;
  reject: (error: Error) => void;
}

/** Builds parts of files in worker threads, as many as there are processors. */
export class PartWorkers {
  readonly #idle: Worker[] = [];
  readonly #all: Worker[] = [];
  readonly #waiting: WorkerTask[] = [];
  readonly #pending = new Map<number, Pending>();
  readonly #limit: number;
  #next = 0;
  #tasks = 0;

  constructor() {
    this.#limit = CODE_FILE === undefined ? 0 : Math.min(availableParallelism(), MOST_WORKERS);
  }

  /** Builds a part, and writes it to its file. */
  async build(part: PartTask): Promise<PartFacts> {
    if (this.#limit === 0) return buildAndWrite(part);
    return (await this.#ask({ number: this.#tasks++, part }, (task) => {
      this.#waiting.push(task);
      this.#dispatch();
    }))!;
  }

  /** Writes the shape of a part. Does not wait until this thread is idle: it is giving lanes to rows. */
  async shape(shape: ShapeTask): Promise<void> {
    if (this.#limit === 0) {
      shapeAndWrite(shape);
      return;
    }
    await this.#ask({ number: this.#tasks++, shape }, (task) => {
      const worker = this.#started() ?? this.#all[this.#next++ % this.#all.length]!;
      worker.postMessage(task);
    });
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((worker) => worker.terminate()));
  }

  #ask(task: WorkerTask, send: (task: WorkerTask) => void): Promise<PartFacts | undefined> {
    return new Promise((resolve, reject) => {
      this.#pending.set(task.number, { resolve, reject });
      send(task);
    });
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
    worker.on('message', (answer: WorkerAnswer) => {
      const { resolve, reject } = this.#pending.get(answer.number)!;
      this.#pending.delete(answer.number);
      if ('facts' in answer) resolve(answer.facts);
      else reject(new Error(answer.error));
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
