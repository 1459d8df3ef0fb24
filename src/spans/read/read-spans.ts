import { hasCode } from '../../core/files/system-error.js';
import { wrongType } from '../../core/errors.js';
import type { TraceFormatError } from '../../core/errors.js';
import { refuse } from '../../core/fault.js';
import type { OnFault } from '../../core/fault.js';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import type { Progress } from '../../core/finding.js';
import { isArray, takeElements } from '../../core/taken-elements.js';
import { LivingPass, traceOf } from '../../heph/read/living-pass.js';
import type { CursorOptions } from '../../heph/read/packet-cursor.js';
import type { SpanRecord } from '../span-record.js';
import type { SpanDecoder } from './span-decoder.js';
import { spanFiles } from './span-files.js';
import { SpanWalk } from './span-walk.js';

/** Options of `readSpans`. */
export interface ReadSpansOptions {
  /** Largest packet in bytes that is read: 64 MiB unless set. */
  maxPacketBytes?: number;
  /** Called now and then with the bytes done and in all, of each file. */
  onProgress?: Progress | undefined;
  /**
   * Whether the rings of a file are read too: what a live process has not written yet, and of one that was
   * killed what `recoverTrace` would add, with open spans as unfinished. Nothing is changed. Default true.
   */
  living?: boolean;
  /** More directories with rings than those of the files: `ringDir` of the writers. */
  ringDirs?: readonly string[];
  /**
   * Takes what cannot be read, and the reading goes on: with the next record, or where bytes are no record with
   * the first that follows them, else with the next file. A fault names the file and the byte. It also takes what a
   * file has lost at its end, and what is wrong with rings, which are no errors otherwise. Without this option the first fault is thrown. An error that the function throws ends the reading.
   */
  onFault?: OnFault;
}

/** Time for which the reader keeps the event loop, in milliseconds. */
const TURN_MS = 10;
/** Paths in one call. */
const MAX_PATHS = 1_000_000;
/** Spans between two looks at the clock. */
const LOOK_EVERY = 1024;

/** Where the reading of a file can go on; only its path: it is complete. */
interface RestOfFile {
  path: string;
  settled?: number;
  decoder?: SpanDecoder;
}

/** Steps through the spans of one file, in its order: that of their ends in each thread. */
class SpanFile {
  readonly path: string;
  readonly #walk: SpanWalk;

  /** @param rest of the same file, which may have grown since. */
  constructor(path: string, options: CursorOptions, rest?: RestOfFile) {
    this.path = path;
    this.#walk = new SpanWalk(path, { ...options, since: rest?.settled ?? 0 }, rest?.decoder);
  }

  /** After the last span: what a later reading needs. */
  get rest(): RestOfFile {
    const { path } = this;
    const { settled, state, decoder } = this.#walk;
    return state === 'growing' ? { path, settled, decoder } : { path };
  }

  /** After the last span: what the file has lost, and what is wrong with its rings. */
  get faults(): readonly TraceFormatError[] {
    return this.#walk.faults;
  }

  /** The next span; undefined at the end. */
  next(): SpanRecord | undefined {
    const walk = this.#walk;
    while (walk.next()) if (walk.span !== undefined) return walk.span;
    return undefined;
  }

  close(): void {
    this.#walk.close();
  }
}

type Step = IteratorResult<SpanRecord, undefined>;

/** Yields the spans of files, one file after another, and lets the event loop turn now and then. */
class SpanIterator implements AsyncIterableIterator<SpanRecord, undefined> {
  readonly #files: Iterator<FoundFile, void>;
  readonly #options: CursorOptions;
  #file: SpanFile | undefined;
  /** By trace: the last of its pieces, which may have grown when it comes again. */
  readonly #last = new Map<string, RestOfFile>();
  #search = 0;
  #left = LOOK_EVERY;
  #until = performance.now() + TURN_MS;

  constructor(files: Iterator<FoundFile, void>, options: CursorOptions) {
    this.#files = files;
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (--this.#left === 0) {
      this.#left = LOOK_EVERY;
      if (performance.now() >= this.#until) return this.#nextInTurn();
    }
    try {
      return Promise.resolve(this.#step());
    } catch (error) {
      this.#end();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it was thrown
      return Promise.reject(error);
    }
  }

  return(): Promise<Step> {
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #step(): Step {
    for (;;) {
      const span = this.#file?.next();
      if (span !== undefined) return { done: false, value: span };
      this.#leaveFile();
      const file = this.#files.next();
      if (file.done === true) return { done: true, value: undefined };
      this.#file = this.#openFile(file.value);
    }
  }

  #leaveFile(): void {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    const { faults } = file;
    file.close();
    for (const fault of faults) this.#options.onFault?.(fault);
    this.#last.set(traceOf(file.path), file.rest);
  }

  #openFile({ path, search, isListed }: FoundFile): SpanFile | undefined {
    if (search !== this.#search) this.#last.clear();
    this.#search = search;
    try {
      const last = this.#last.get(traceOf(path));
      const rest = last?.path === path && isListed ? last : undefined;
      if (rest !== undefined && rest.decoder === undefined) return undefined;
      return new SpanFile(path, this.#options, rest);
    } catch (error) {
      // A trace of limited size has deleted it.
      if (isListed && hasCode(error, 'ENOENT')) return undefined;
      refuse(this.#options.onFault, path, error);
      return undefined;
    }
  }

  #end(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#files.return?.();
  }

  async #nextInTurn(): Promise<Step> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#until = performance.now() + TURN_MS;
    return this.next();
  }
}

/** A file, and whether it was found in a directory: it may be gone by now. */
interface FoundFile {
  path: string;
  /** Which of the paths it was found at. */
  search: number;
  isListed: boolean;
}

function* filesAt(
  paths: readonly string[],
  onFault: OnFault | undefined,
): Generator<FoundFile, void> {
  for (const [search, given] of paths.entries()) {
    for (const path of spanFiles(given, onFault)) yield { path, search, isListed: path !== given };
  }
}

/** See `readSpans` of tracewright/spans. */
export function readSpansOf(
  paths: string | readonly string[],
  options: ReadSpansOptions,
): AsyncIterableIterator<SpanRecord, undefined> {
  const { living, ringDirs, ...reading } = ownOptions(options, [
    'maxPacketBytes',
    'onProgress',
    'living',
    'ringDirs',
    'onFault',
  ]);
  const { onFault } = reading;
  if (onFault !== undefined && typeof onFault !== 'function') {
    throw wrongType('onFault', onFault, 'a function');
  }
  if (living !== undefined && typeof living !== 'boolean') {
    throw wrongType('living', living, 'a boolean');
  }
  const dirs =
    ringDirs === undefined
      ? []
      : takeElements('ringDirs', ringDirs, MAX_PATHS, 'a list of paths').map((path) =>
          checkPath('ringDirs', path),
        );
  const given = isArray(paths)
    ? takeElements('paths', paths, MAX_PATHS, 'a list of paths')
    : [paths];
  const list = given.map((path) => checkPath('paths', path));
  return new SpanIterator(filesAt(list, onFault), {
    ...reading,
    living: living === false ? false : { ringDirs: dirs, pass: new LivingPass() },
  });
}
