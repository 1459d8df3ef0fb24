import { existsSync, readdirSync, rmSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { OptionNames } from './argument.js';
import { TraceFormatError, TracewrightError } from './errors.js';
import { discardRing } from './recover-ring.js';
import type { RecoveredStream } from './recover-ring.js';
import { RingFile } from './ring-file.js';
import type { UnreadyRing } from './ring-file.js';
import { attempt, hasCode } from './system-error.js';

/** What a recovery has done. */
export interface Recovery {
  /** Streams that were completed. */
  streams: RecoveredStream[];
  /** Streams that never held a record, and rings without one, that were taken away. */
  emptied: string[];
  /** What could not be recovered, and why; everything else was. */
  faults: TracewrightError[];
}

export interface RecoverOptions {
  /** Where the rings are, when the process kept them elsewhere (`ringDir`). */
  ringDir?: string;
}

export const RECOVER_OPTIONS: OptionNames<Required<RecoverOptions>> = { ringDir: true };

/** A file that may be a ring, and the stream that it feeds, if that belongs to the trace. */
export interface Candidate {
  path: string;
  streamOf(ring: RingFile): string | undefined;
  /** Of a ring that never became ready, beside its stream: takes away what there is of the stream. */
  removeBegun?: () => void;
}

/** A ring that a dead process left, and the stream that it feeds. */
export interface Leftover {
  ring: RingFile;
  stream: string;
}

const DEEPEST = 16;

function entriesOf(directory: string): Dirent[] {
  return attempt('path', directory, () => readdirSync(directory, { withFileTypes: true }));
}

/** Files below `directory` whose names a test accepts, without following links. */
export function* filesBelow(
  directory: string,
  accepts: (name: string, directory: string) => boolean,
  depth = 0,
): Generator<string, void> {
  for (const entry of entriesOf(directory)) {
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

/**
 * Opens the rings of a trace and completes each stream. What fails leaves the others alone.
 *
 * @param complete finishes one of the rings that are left, and adds what it did to the result.
 * @throws TracewrightError `ERR_ORDER` when a process that writes the trace is alive; nothing is
 *   touched then.
 */
export function recoverRings(
  candidates: Iterable<Candidate>,
  complete: (leftover: Leftover, left: readonly Leftover[], result: Recovery) => void,
): Recovery {
  const result: Recovery = { streams: [], emptied: [], faults: [] };
  const left: Leftover[] = [];
  try {
    const unready: (UnreadyRing & Candidate)[] = [];
    for (const candidate of candidates) {
      const ring = openRing(candidate.path, result);
      if (ring instanceof RingFile) {
        const stream = candidate.streamOf(ring);
        if (stream === undefined) ring.close();
        else left.push({ ring, stream });
      } else if (ring !== undefined) {
        unready.push({ ...candidate, ...ring });
      }
    }
    const alive = [...left.map(({ ring }) => ring), ...unready.filter(({ pid }) => pid !== 0)].find(
      ({ owner }) => owner === 'alive',
    );
    if (alive !== undefined) {
      throw new TracewrightError(
        'ERR_ORDER',
        `${alive.path}: process ${alive.pid} is alive and writes this trace; end it first`,
        { field: 'pid', value: alive.pid, limit: 'a process that has ended' },
      );
    }
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
 * Recovers what a dead predecessor left in a place that is about to be used again; what a live
 * process writes there is left alone.
 *
 * @returns false when a process other than this one is alive and writes there.
 */
export function recoverPredecessor(recover: () => Recovery): boolean {
  try {
    recover();
    return true;
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    return error.code !== 'ERR_ORDER' || error.value === process.pid;
  }
}

/**
 * Takes away a ring that holds nothing and whose stream is gone, or was never made.
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
