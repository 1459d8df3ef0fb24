import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Column } from '../../wire/columns.js';
import type { Stretch } from '../parts/build-stretch.js';
import type { ColumnName, PartFacts } from '../parts/part-columns.js';
import type { PyramidRows } from '../parts/pyramid.js';

/** A part to build, and the file to which it is written. */
export interface BuildTask {
  stretch: Stretch;
  out: string;
}

/** A part whose rows have their lanes, and the file to which its shape is to be written. */
export interface ShapeTask {
  out: string;
  /** Columns that threads share; tracks are numbers within the part. */
  rows: PyramidRows;
  /** The numbers of the part's tracks within the source. */
  numbers: Uint32Array;
}

/** Columns to read of the file of a part. */
export interface ReadTask {
  path: string;
  facts: PartFacts;
  stretch: Stretch;
  names: readonly ColumnName[];
}

/** The tasks of a thread, and its answers: facts of a part that is built, and columns that are read. */
export type PartTask = { build: BuildTask } | { shape: ShapeTask } | { read: ReadTask };
export type NumberedTask = PartTask & { number: number };
export type PartAnswer = { number: number } & (
  | { facts: PartFacts | undefined }
  | { columns: readonly Column[] }
  | { error: string }
);

interface Pending {
  resolve: (answer: PartAnswer) => void;
  reject: (error: Error) => void;
}

/** The file of the package that contains build/part-worker.ts; a thread cannot load the sources. */
export const CODE_FILE = codeFile();
const CODE =
  'require(require("node:worker_threads").workerData).look_index_build_part_worker.servePartWorker()';

function codeFile(): string | undefined {
  const file = typeof __dirname === 'string' ? join(__dirname, 'index.js') : '';
  return existsSync(file) ? file : undefined;
}

/** Whether there can be threads. */
export const HAS_PART_THREADS = CODE_FILE !== undefined;

/** A thread that works on parts of an index: it does one task after the other, and keeps no process from its end. */
export class PartThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #tasks = 0;
  #failed: Error | undefined;

  constructor() {
    // The hook and loaders of the program do not concern it.
    this.#worker = new Worker(CODE, { eval: true, workerData: CODE_FILE, execArgv: [], env: {} });
    this.#worker.on('message', (answer: PartAnswer) => {
      const { resolve, reject } = this.#pending.get(answer.number)!;
      this.#pending.delete(answer.number);
      if (this.#pending.size === 0) this.#worker.unref();
      if ('error' in answer) reject(new Error(answer.error));
      else resolve(answer);
    });
    this.#worker.on('error', (error) => {
      this.#fail(error);
    });
    this.#worker.on('exit', (code) => {
      this.#fail(new Error(`a thread of the index has ended with code ${code}`));
    });
  }

  async build(build: BuildTask): Promise<PartFacts> {
    return ((await this.#ask({ build })) as { facts: PartFacts }).facts;
  }

  async shape(shape: ShapeTask): Promise<void> {
    await this.#ask({ shape });
  }

  /** Checked columns, in the order of their names. */
  async read(read: ReadTask): Promise<readonly Column[]> {
    return ((await this.#ask({ read })) as { columns: readonly Column[] }).columns;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(task: PartTask): Promise<PartAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#failed !== undefined) {
        reject(this.#failed);
        return;
      }
      const number = this.#tasks++;
      this.#pending.set(number, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage({ ...task, number } satisfies NumberedTask);
    });
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failed);
    this.#pending.clear();
  }
}
