import { existsSync, readdirSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import { refuse, unlessFaulty, untilFault } from '../core/fault.js';
import type { OnFault } from '../core/fault.js';
import { nameNotText } from '../core/files/name-not-text.js';
import { hasCode } from '../core/files/system-error.js';
import { didYouMean } from '../core/nearest-name.js';
import { RingFile } from '../core/recovery/ring-file.js';
import type { Endian } from '../laplace/layout.js';
import type { TraceFormat } from '../rows/trace-format.js';
import { allFormats } from './formats.js';

/** The format whose trace a ring feeds, and the file; undefined if the ring is not believed. */
function fedBy(path: string, formats: readonly TraceFormat[]): FedFile | undefined {
  const ring = RingFile.open(path, undefined, 'look');
  const isReady = ring instanceof RingFile;
  if (isReady) ring.close();
  const format = formats.find(({ rings }) =>
    isReady ? rings.isFormat(ring.format) : rings.isRing(path),
  );
  const file = format?.rings.fileOf(path);
  if (file === undefined || (isReady && ring.doubt(file) !== undefined)) return undefined;
  return { format: format!, file };
}

interface FedFile {
  format: TraceFormat;
  file: string;
}

function* filesFedIn(directory: string, formats: readonly TraceFormat[]): Generator<FedFile, void> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ring')) continue;
    try {
      const fed = fedBy(join(directory, entry.name), formats);
      if (fed !== undefined) yield fed;
    } catch (error) {
      // Recovery reports what is wrong with a ring.
      if (!(error instanceof TracewrightError)) throw error;
    }
  }
}

/**
 * The files that the rings in a directory feed, by format. The files may not exist.
 *
 * @param formats all there are: each must be able to claim its rings.
 */
function ringedFiles(
  directory: string,
  formats: readonly TraceFormat[],
): ReadonlyMap<string, readonly string[]> {
  const files = new Map<string, Set<string>>(formats.map(({ name }) => [name, new Set()]));
  for (const { format, file } of filesFedIn(directory, formats)) {
    files.get(format.name)!.add(file);
  }
  return new Map([...files].map(([name, paths]) => [name, [...paths].sort()]));
}

/** Facts that a trace does not have itself. */
export interface InputForm {
  /** Name of the format of every file, instead of finding it out: `laplace-binary`. */
  format?: string | undefined;
  /** Byte order of Laplace's binary traces. Default `little`. */
  endian?: Endian | undefined;
}

/** A trace and its format. */
export interface FoundTrace {
  format: TraceFormat;
  path: string;
}

/** Levels of directories below a path that are searched. */
const DEEPEST = 8;

/** Finds traces of the wanted formats. */
class Search {
  readonly #all: readonly TraceFormat[];
  readonly #wanted: readonly TraceFormat[];
  readonly #isForced: boolean;
  readonly #onFault: OnFault | undefined;

  /** @param onFault takes what is wrong with a directory below the path. */
  constructor({ format, endian = 'little' }: InputForm, onFault: OnFault | undefined) {
    this.#onFault = onFault;
    this.#all = allFormats(endian);
    this.#isForced = format !== undefined;
    this.#wanted = this.#isForced ? this.#all.filter(({ name }) => name === format) : this.#all;
  }

  /** The format of a file, if one recognizes it. */
  formatOf(path: string): TraceFormat | undefined {
    return this.#isForced
      ? this.#wanted[0]
      : this.#wanted.find((format) => format.isTraceFile(path));
  }

  /** The files of a rotated trace, of which nothing lies at the path itself. */
  piecesOf(path: string): FoundTrace[] {
    const directory = dirname(path);
    if (existsSync(path) || !existsSync(directory)) return [];
    const ringed = ringedFiles(directory, this.#all);
    return this.#wanted.flatMap((format) =>
      (format.piecesOf?.(path, ringed.get(format.name)!) ?? []).map((piece) => ({
        format,
        path: piece,
      })),
    );
  }

  /** The traces in a directory and below it, next to the parts of a trace that is a directory, too. */
  tracesBelow(directory: string, depth = 0): FoundTrace[] {
    const found = this.#tracesIn(directory, depth);
    if (depth === DEEPEST) return found;
    const known = new Set(found.map(({ path }) => path));
    const itself = found.find(({ path }) => path === directory)?.format;
    for (const entry of entriesOf(directory)) {
      const below = join(directory, entry.name);
      if (!entry.isDirectory() || /^\.|^node_modules$/.test(entry.name)) continue;
      if (itself?.isPartOfTrace?.(entry.name) === true) continue;
      for (const trace of this.tracesBelow(below, depth + 1)) {
        if (!known.has(trace.path)) found.push(trace);
      }
    }
    return found;
  }

  /** A directory that cannot be read has no trace. A format that fails on it leaves those of the others. */
  #tracesIn(directory: string, depth: number): FoundTrace[] {
    let ringed: ReadonlyMap<string, readonly string[]>;
    try {
      ringed = ringedFiles(directory, this.#all);
    } catch (error) {
      if (depth === 0) throw error;
      if (!hasCode(error, 'ENOENT')) refuse(this.#onFault, directory, error);
      else {
        const fault = nameNotText(directory);
        if (fault !== undefined) this.#onFault?.(fault);
      }
      return [];
    }
    return this.#wanted.flatMap((format) => [
      ...untilFault(this.#onFault, directory, () =>
        format.tracesIn(directory, ringed.get(format.name)!).map((path) => ({ format, path })),
      ),
    ]);
  }
}

/** None of a directory that cannot be read: that was reported when its traces were looked for. */
function entriesOf(directory: string): Dirent[] {
  return unlessFaulty(() => readdirSync(directory, { withFileTypes: true })) ?? [];
}

function notReadable(path: string, error: unknown): TracewrightError {
  // Node's message ends with the call and the path: `ENOENT: no such file or directory, stat '/x'`.
  const [, reason] = /^\w+: ([^,]*), \w+ /.exec((error as Error).message) ?? [];
  const message = `cannot read ${path}: ${reason ?? (error as Error).message}${hasCode(error, 'ENOENT') ? neighbour(path) : ''}`;
  return new TracewrightError('ERR_SYSTEM', message, {
    field: 'path',
    value: path,
    cause: error,
  });
}

/** A name next to a path that does not exist. */
function neighbour(path: string): string {
  const names = entriesOf(dirname(path)).map(({ name }) => name);
  const name = basename(path);
  return didYouMean(name, names, path.slice(0, path.lastIndexOf(name)));
}

function noTrace(path: string, reason: string): TracewrightError {
  return new TracewrightError('ERR_ARGUMENT_RANGE', `${path} ${reason}`, {
    field: 'path',
    value: path,
  });
}

const RECOGNIZED =
  'contains no trace. A Heph trace begins with a packet or ends in .heph. An ovni trace is a ' +
  'directory with loom.<name> in it. A DUMPI trace begins with its magic number or ends in .meta. ' +
  'A Laplace trace ends in .references, .references.txt or .kernel.txt; name its kind with ' +
  '--format if it does not';

const EMPTY =
  'is empty. To record a service, start it with `node --require tracewright/register server.js`: ' +
  'it writes to traces/, or to TRACEWRIGHT_DIR';

/**
 * The traces at a path: the file itself, those in a directory and below it, or the pieces of a
 * rotated trace.
 */
function tracesAt(path: string, search: Search, withoutFile: boolean): FoundTrace[] {
  try {
    const wanted = (found: FoundTrace[]): FoundTrace[] =>
      withoutFile ? found : found.filter((trace) => existsSync(trace.path));
    const pieces = wanted(search.piecesOf(path));
    if (pieces.length > 0) return pieces;
    const stats = statSync(path);
    if (stats.isDirectory()) {
      const found = wanted(search.tracesBelow(path));
      if (found.length > 0) return found;
      if (readdirSync(path).length === 0) throw noTrace(path, EMPTY);
    } else if (stats.isFile()) {
      const format = search.formatOf(path);
      if (format !== undefined) return [{ format, path }];
    } else {
      throw noTrace(path, 'is neither a file nor a directory');
    }
  } catch (error) {
    throw error instanceof TracewrightError ? error : notReadable(path, error);
  }
  throw noTrace(path, RECOGNIZED);
}

/** Options of a search, next to the form. */
interface SearchOptions {
  /** Includes traces of which only rings exist, for recovery. */
  withoutFile?: boolean;
  /** Takes what is wrong with a directory below a path; the others are searched. Default: throw it. */
  onFault?: OnFault | undefined;
}

/**
 * The traces at several paths, each once.
 *
 * @throws TracewrightError `ERR_SYSTEM` when a path cannot be read, `ERR_ARGUMENT_RANGE` when it
 *   contains no trace.
 */
export function findTraces(
  paths: readonly string[],
  form: InputForm = {},
  { withoutFile = false, onFault }: SearchOptions = {},
): FoundTrace[] {
  const search = new Search(form, onFault);
  const found = new Map<string, FoundTrace>();
  for (const trace of paths.flatMap((path) => tracesAt(path, search, withoutFile))) {
    const key = resolve(trace.path);
    if (!found.has(key)) found.set(key, trace);
  }
  return [...found.values()];
}
