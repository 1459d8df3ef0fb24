import { basename, dirname, extname, join, resolve } from 'node:path';
import type { NativePieceNames } from '../core/native-ring.js';

/** A file with this extension counts as a Heph trace, whatever its content. */
export const EXTENSION = '.heph';

/** The folder of Heph traces in the directory of a run of the register hook. */
export const RUN_FOLDER = 'heph';

/** After the name of a trace: the process of a run, and which of its files it is, from the second on. */
const PROCESS_TAIL = /-(\d+)(?:-(?:[2-9]|[1-9]\d))?$/;

/**
 * The file of a process of a run, for a trace of `path`: `name-PID.heph`, `name-PID-2.heph` and so on.
 *
 * @param number counts from 1.
 */
export function fileOfProcess(path: string, pid: number, number: number): string {
  const extension = extname(path);
  const stem = join(dirname(path), basename(path, extension));
  return `${stem}-${pid}${number === 1 ? '' : `-${number}`}${extension}`;
}

/** The process in the name of a file, or of a piece of it; undefined for any other name. */
export function pidOfFile(file: string): number | undefined {
  const name = nameOfTrace(file);
  if (!name.endsWith(EXTENSION)) return undefined;
  const pid = PROCESS_TAIL.exec(basename(name, EXTENSION))?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** The process that has written a file of a run; undefined for any other file. */
export function pidInRun(path: string): number | undefined {
  const trace = resolve(path);
  return basename(dirname(trace)) === RUN_FOLDER ? pidOfFile(trace) : undefined;
}

/** The program in the name of a file of a run, or of a piece of it; undefined for any other name. */
export function programOfFile(file: string): string | undefined {
  if (pidOfFile(file) === undefined) return undefined;
  return basename(nameOfTrace(file), EXTENSION).replace(PROCESS_TAIL, '');
}

/** Digits of a piece's number, at least. */
const PIECE_DIGITS = 6;
const PIECE_NUMBER = new RegExp(`^\\.\\d{${PIECE_DIGITS},}$`);

/**
 * A piece of a trace that rotates: `trace.heph` is written as `trace.000001.heph`,
 * `trace.000002.heph` and so on.
 */
interface Piece {
  /** Name of the trace as it was opened: `trace.heph`. */
  trace: string;
  /** Counts from 1. */
  number: number;
}

function pieceOf(path: string): Piece | undefined {
  const extension = extname(path);
  const stem = basename(path, extension);
  const number = extname(stem);
  if (PIECE_NUMBER.test(number)) {
    return {
      trace: basename(stem, number) + extension,
      number: Number(number.slice(1)),
    };
  }
  // The trace has no extension.
  return PIECE_NUMBER.test(extension) && stem !== ''
    ? { trace: stem, number: Number(extension.slice(1)) }
    : undefined;
}

/** Names of the pieces of the trace at `path` and of their rings: those of `ringPath` with the number. */
export function pieceNames(path: string, ringDir: string | undefined): NativePieceNames {
  const extension = extname(path);
  const stem = basename(path, extension);
  const rings = join(ringDir ?? dirname(path), `.${stem}`);
  return {
    before: `${join(dirname(path), stem)}.`,
    after: extension,
    rings: `${rings}${extension}.`,
    ringsBefore: `${rings}.`,
    ringsAfter: `${extension}.`,
    digits: PIECE_DIGITS,
  };
}

/** The number of a piece of the trace that was opened at `path`; undefined for any other file. */
function pieceNumber(file: string, path: string): number | undefined {
  const piece = pieceOf(file);
  return piece?.trace === basename(path) ? piece.number : undefined;
}

/** How many earlier pieces a trace had when a file began. */
export function predecessorsOf(path: string): number {
  return Math.max(0, (pieceOf(path)?.number ?? 0) - 1);
}

/** Whether earlier pieces of the trace can exist, which hold its earlier events. */
export function hasPredecessors(path: string): boolean {
  return predecessorsOf(path) > 0;
}

/** The trace's name as it was opened: a file's name without the number of its piece. */
export function nameOfTrace(file: string): string {
  return pieceOf(file)?.trace ?? basename(file);
}

/** Of the files those that are pieces of the trace opened at `path`, the oldest first. */
export function piecesAmong(files: readonly string[], path: string): string[] {
  return files
    .map((file) => ({ number: pieceNumber(file, path), file }))
    .filter((piece): piece is { number: number; file: string } => piece.number !== undefined)
    .sort((a, b) => a.number - b.number)
    .map(({ file }) => file);
}

/**
 * Where a thread's ring for the trace at `path` lies: in `ringDir`, or next to the trace.
 *
 * @param tag what distinguishes the rings of a trace, by `ringTag`.
 */
export function ringPath(path: string, ringDir: string | undefined, tag: string): string {
  const name = `.${basename(path)}.${tag}.ring`;
  return join(ringDir ?? dirname(path), name);
}

const RING_NAME = /^\.(.+)\.\d+-\d+-\d+\.ring$/;

/**
 * The file that a ring next to it feeds: the trace, or one of its pieces, after which the ring is
 * renamed. Undefined when this is not the name of a ring.
 */
export function fileOfRing(ring: string): string | undefined {
  const file = RING_NAME.exec(basename(ring))?.[1];
  return file === undefined ? undefined : join(dirname(ring), file);
}

const CUT_NAME = /^\.(.+)\.([0-9a-f]{16})-(\d+)\.cut$/;

/** Bytes that recovery has cut off a file that had lost its end. */
export interface CutEnd {
  /** The file that has these bytes; there may be none of them. */
  path: string;
  /** The file that was cut, in the same directory. */
  file: string;
  /** Its epoch in hexadecimal digits: another file may have come to its path. */
  epoch: string;
  /** Where it was cut. */
  offset: number;
}

/** @param epoch the value of the file's epoch packet. */
export function cutEndOf(file: string, epoch: bigint, offset: number): CutEnd {
  const digits = epoch.toString(16).padStart(16, '0');
  const path = join(dirname(file), `.${basename(file)}.${digits}-${offset}.cut`);
  return { path, file, epoch: digits, offset };
}

/** Undefined for any other name. */
export function cutEndAt(path: string): CutEnd | undefined {
  const [, name, epoch, offset] = CUT_NAME.exec(basename(path)) ?? [];
  if (name === undefined) return undefined;
  return { path, file: join(dirname(path), name), epoch: epoch!, offset: Number(offset) };
}
