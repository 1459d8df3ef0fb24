import { existsSync, readdirSync, rmSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { integerIn } from '../options/argument.js';
import type { OptionNames } from '../options/argument.js';
import { TraceFormatError, TracewrightError } from '../errors.js';
import { discardRing } from './recover-file.js';
import type { RecoveredStream } from './recover-file.js';
import { CLOSED_TRACE } from './predecessor.js';
import { RECOVERY_WAIT_MS, whileLocked } from './recovery-lock.js';
import { RingFile } from './ring-file.js';
import type { UnreadyRing } from './ring-file.js';
import { wrapSystemError, hasCode } from '../files/system-error.js';

/** What a recovery has done. */
export interface Recovery {
  /** Streams that were completed. */
  streams: RecoveredStream[];
  /** Streams that never held a record, and rings without one, that were deleted. */
  emptied: string[];
  /** What could not be recovered, and why; everything else was. */
  faults: TracewrightError[];
}

export interface RecoverOptions {
  /** Where the rings are, when the process kept them elsewhere (`ringDir`). */
  ringDir?: string;
  /**
   * How long another recovery of the same trace is waited for, 0 to 2^31-1 milliseconds; default
   * 30,000. What it has done then is not done again.
   */
  waitMs?: number;
}

export const RECOVER_OPTIONS: OptionNames<Required<RecoverOptions>> = {
  ringDir: true,
  waitMs: true,
};

/** @throws TracewrightError for a `waitMs` out of its range. */
export function checkWait({ waitMs = RECOVERY_WAIT_MS }: RecoverOptions): number {
  return integerIn('waitMs', waitMs, 0, 2 ** 31 - 1);
}

/** A file that may be a ring, and the stream that it feeds, if that belongs to the trace. */
export interface Candidate {
  path: string;
  /** An error where it belongs to the trace and what lies in the place of its stream is not the ring's. */
  streamOf(ring: RingFile): string | TracewrightError | undefined;
  /** Of a ring that never became ready, next to its stream: deletes what there is of the stream. */
  removeBegun?: () => void;
}

/** A ring that a dead process left, and the stream that it feeds. */
export interface Leftover {
  ring: RingFile;
  stream: string;
}

const DEEPEST = 16;

function entriesOf(directory: string, mayBeGone = false): Dirent[] {
  try {
    return wrapSystemError('path', directory, () =>
      readdirSync(directory, { withFileTypes: true }),
    );
  } catch (error) {
    if (mayBeGone && hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Files below `directory` whose names a test accepts, without following links. */
export function* filesBelow(
  directory: string,
  accepts: (name: string, directory: string) => boolean,
  depth = 0,
): Generator<string, void> {
  // One that was seen in another may have been deleted by a recovery since.
  for (const entry of entriesOf(directory, depth > 0 && depth <= DEEPEST)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && depth < DEEPEST) yield* filesBelow(path, accepts, depth + 1);
    else if (entry.isFile() && accepts(entry.name, directory)) yield path;
  }
}

/** Rings in a directory that was set aside for them. */
export function* ringsIn(directory: string): Generator<string, void> {
  for (const entry of entriesOf(directory)) {
    if (entry.isFile() && entry.name.endsWith('.ring')) yield join(directory, entry.name);
  }
}

/** What a recovery has done that has found nothing. */
export function nothingToRecover(): Recovery {
  return { streams: [], emptied: [], faults: [] };
}

/** Finishes one of the rings that are left, and adds what it did to the result. */
export type Complete = (leftover: Leftover, left: readonly Leftover[], result: Recovery) => void;

/**
 * Opens the rings of a trace and completes each stream. What fails leaves the others alone. The
 * caller sees to it that nobody else does the same meanwhile.
 *
 * @throws TracewrightError `ERR_ORDER` when a process that writes the trace is alive, `ERR_SYSTEM`
 *   when a ring cannot be read; nothing is touched then.
 */
export function recoverRings(candidates: Iterable<Candidate>, complete: Complete): Recovery {
  const result = nothingToRecover();
  const left: Leftover[] = [];
  try {
    const unready: (UnreadyRing & Candidate)[] = [];
    const strangers: { ring: RingFile; fault: TracewrightError }[] = [];
    // A directory of rings may be that of the trace.
    const seen = new Set<string>();
    for (const candidate of candidates) {
      const ring = openRing(candidate.path, result);
      if (ring instanceof RingFile) {
        const stream = seen.has(ring.file) ? undefined : candidate.streamOf(ring);
        if (typeof stream === 'string') left.push({ ring, stream });
        else ring.close();
        if (stream !== undefined) seen.add(ring.file);
        if (stream instanceof Error) strangers.push({ ring, fault: stream });
      } else if (ring !== undefined) {
        unready.push({ ...candidate, ...ring });
      }
    }
    const alive = [
      ...[...left, ...strangers].map(({ ring }) => ring),
      ...unready.filter(({ pid }) => pid !== 0),
    ].filter(({ owner }) => owner === 'alive');
    const writer = alive.find(({ isOwn }) => !isOwn) ?? alive[0];
    if (writer !== undefined) {
      const { path, pid, isOwn } = writer;
      throw new TracewrightError(
        'ERR_ORDER',
        `${path}: process ${pid} is alive and writes this trace; ${isOwn ? 'close' : 'end'} it first`,
        { field: 'pid', value: pid, limit: isOwn ? CLOSED_TRACE : 'a process that has ended' },
      );
    }
    result.faults.push(...strangers.map(({ fault }) => fault));
    for (const { path, owner, removeBegun } of unready) {
      if (owner === 'alive') continue;
      removeBegun?.();
      rmSync(path, { force: true });
      result.emptied.push(path);
    }
    for (const next of [...left]) {
      try {
        complete(next, left, result);
        left.splice(left.indexOf(next), 1);
      } catch (error) {
        // It stays among those that are left: the place that it has noted is not free.
        result.faults.push(asFault(next.stream, error));
      }
      next.ring.close();
    }
  } finally {
    for (const { ring } of left) ring.close();
  }
  return result;
}

/**
 * Like {@link recoverRings}, while nobody else recovers in the same directories.
 *
 * @param candidates looked for again once the directories are locked.
 * @throws TracewrightError also `ERR_TIMEOUT`, when another recovery takes longer than `waitMs`.
 */
export function recoverRingsLocked(
  candidates: () => Generator<Candidate, void>,
  directories: () => Iterable<string>,
  options: RecoverOptions,
  complete: Complete,
): Recovery {
  const waitMs = checkWait(options);
  // Most traces are opened where there never was one.
  if (candidates().next().done === true) return nothingToRecover();
  return whileLocked(directories(), waitMs, () => recoverRings(candidates(), complete));
}

/**
 * Deletes a ring that holds nothing and whose stream is gone, or was never made.
 *
 * @returns whether it was one.
 */
export function discardUnused({ ring, stream }: Leftover, result: Recovery): boolean {
  if (ring.head > 0 || existsSync(stream)) return false;
  discardRing(ring);
  result.emptied.push(stream);
  return true;
}

function openRing(path: string, result: Recovery): RingFile | UnreadyRing | undefined {
  try {
    return RingFile.open(path);
  } catch (error) {
    // Seen in its directory, and finished by a live thread before it could be opened.
    if (hasCode(error, 'ENOENT')) return undefined;
    // Whether its process lives, and what place of a shared file is its own, stays unknown.
    if (!(error instanceof TraceFormatError)) throw error;
    result.faults.push(error);
    return undefined;
  }
}

/** An error of any kind as a fault of a recovery. */
export function asFault(path: string, error: unknown): TracewrightError {
  if (error instanceof TracewrightError) return error;
  const { message } = error as Error;
  return new TracewrightError('ERR_SYSTEM', message, { field: 'path', value: path, cause: error });
}
