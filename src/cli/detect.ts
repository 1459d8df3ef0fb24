import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from './command.js';
import { dumpiFormat } from './dumpi-format.js';
import { hephFormat } from './heph-format.js';
import { laplaceFormats } from './laplace-format.js';
import { ovniFormat } from './ovni-format.js';
import type { TraceFormat } from './trace-format.js';

/** What the user says of a trace that does not say it itself. */
export interface Told {
  /** A format's name, for a file that nothing tells: `laplace-binary`. */
  format?: string | undefined;
  /** Byte order of a binary trace of Laplace. */
  endian?: string | undefined;
}

/** Options of every subcommand that reads such traces. */
export const toldOptions = {
  format: { type: 'string' },
  endian: { type: 'string' },
} as const;

/** What their help says of these options. */
export const toldHelp = `  --format  what PATH is, where nothing in it says: laplace-binary,
            laplace-text, laplace-kernel
  --endian  byte order of a binary trace of Laplace, little (default) or big
`;

/** Whether a format can be told by this name. */
export function isToldFormat(name: string): boolean {
  return laplaceFormats().some((format) => format.name === name);
}

/** @throws UsageError for a word that is no byte order. */
export function toldEndian({ endian }: Told): 'little' | 'big' {
  if (endian === undefined || endian === 'little') return 'little';
  if (endian === 'big') return endian;
  throw new UsageError(`--endian must be little or big, not ${JSON.stringify(endian)}`);
}

/** Every format that the command knows, in the order in which a directory's traces are treated. */
function formatsAsTold(told: Told): readonly TraceFormat[] {
  const laplace = laplaceFormats(toldEndian(told));
  if (told.format === undefined) return [ovniFormat, hephFormat, dumpiFormat, ...laplace];
  const format = laplace.find(({ name }) => name === told.format);
  if (format === undefined) {
    const names = laplace.map(({ name }) => name).join(', ');
    throw new UsageError(`--format must be one of ${names}, not ${JSON.stringify(told.format)}`);
  }
  return [{ ...format, isTraceFile: () => true }];
}

/** A trace and what it is one of. */
export interface FoundTrace {
  format: TraceFormat;
  path: string;
}

/** Levels of directories below PATH that are looked through. */
const DEEPEST = 8;

/** The traces in a directory and below it, but not those inside of a trace that is a directory. */
function tracesBelow(directory: string, formats: readonly TraceFormat[], depth = 0): FoundTrace[] {
  const found = formats.flatMap((format) =>
    format.tracesIn(directory).map((path) => ({ format, path })),
  );
  if (depth === DEEPEST) return found;
  const known = new Set(found.map(({ path }) => path));
  if (known.has(directory)) return found;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const below = join(directory, entry.name);
    if (!entry.isDirectory() || /^\.|^node_modules$/.test(entry.name) || known.has(below)) continue;
    for (const trace of tracesBelow(below, formats, depth + 1)) {
      if (!known.has(trace.path)) found.push(trace);
    }
  }
  return found;
}

/** The files of a trace that rotated, of which nothing lies at the path itself. */
function pieces(path: string, formats: readonly TraceFormat[]): FoundTrace[] {
  if (existsSync(path) || !existsSync(dirname(path))) return [];
  return formats.flatMap((format) =>
    (format.piecesOf?.(path) ?? []).map((piece) => ({ format, path: piece })),
  );
}

/**
 * The traces that a path stands for: itself, those in a directory and below it, or the pieces of one
 * that rotated. A directory that the register hook made holds an ovni trace in `ovni` and a file for
 * each Heph trace in `heph`.
 */
function tracesAt(
  path: string,
  formats: readonly TraceFormat[],
  withoutFile: boolean,
): FoundTrace[] {
  try {
    const wanted = (found: FoundTrace[]): FoundTrace[] =>
      withoutFile ? found : found.filter((trace) => existsSync(trace.path));
    const rotated = wanted(pieces(path, formats));
    if (rotated.length > 0) return rotated;
    const stats = statSync(path);
    if (stats.isDirectory()) {
      const found = wanted(tracesBelow(path, formats));
      if (found.length > 0) return found;
    } else if (stats.isFile()) {
      const format = formats.find((candidate) => candidate.isTraceFile(path));
      if (format !== undefined) return [{ format, path }];
    } else {
      throw new UsageError(`${path} is neither a file nor a directory`);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`);
  }
  throw new UsageError(
    `${path} holds no trace; a Heph trace begins with a packet or ends in .heph, ` +
      'an ovni trace is a directory with loom.<name> in it, a DUMPI trace begins with its magic or ' +
      'is a .meta file; a trace of Laplace needs --format laplace-binary, or a name that ends in ' +
      '.references, .references.txt or .kernel.txt',
  );
}

/**
 * The traces that paths stand for, each once.
 *
 * @param withoutFile whether rings count of which there is no file: recovery takes them away.
 * @throws UsageError when there is nothing at a path, or nothing that the command knows.
 */
export function findTraces(
  paths: readonly string[],
  told: Told = {},
  withoutFile = false,
): FoundTrace[] {
  const formats = formatsAsTold(told);
  const found = new Map<string, FoundTrace>();
  for (const trace of paths.flatMap((path) => tracesAt(path, formats, withoutFile))) {
    const key = resolve(trace.path);
    if (!found.has(key)) found.set(key, trace);
  }
  return [...found.values()];
}
