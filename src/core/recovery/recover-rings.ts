import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { TraceFormatError, TracewrightError } from '../errors.js';
import { hasCode } from '../files/system-error.js';
import { kindOf } from '../files/file-kind.js';
import { discardRing } from './recover-file.js';
import { asFault, checkWait, nothingToRecover } from './recovery.js';
import type { Recovery, RecoverOptions } from './recovery.js';
import { CLOSED_TRACE, isDoubt } from './recovery-errors.js';
import { whileLocked } from './recovery-lock.js';
import { RingFile } from './ring-file.js';
import type { UnreadyRing } from './ring-file.js';
import { blankRing } from './ring-page.js';

/** A file that may be a ring, and the stream that it feeds, if that belongs to the trace. */
export interface Candidate {
  path: string;
  /** The stream that it feeds according to its name. */
  stream?: string | undefined;
  /** An error where it belongs to the trace and what lies in the place of its stream is not the ring's. */
  streamOf(ring: RingFile): string | TracewrightError | undefined;
  /** Bytes of the stream before it has records; default 0. */
  beginning?: number;
  /** Of a ring that never became ready, next to its stream: deletes what there is of the stream. */
  removeBegun?: () => void;
}

/** A ring that a dead process left, and the stream that it feeds. */
interface Leftover {
  ring: RingFile;
  stream: string;
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
    const ignored = new Set<string>();
    for (const candidate of candidates) {
      if (ignored.has(resolve(candidate.path))) continue;
      const ignore = (doubt: TracewrightError, namesTrace: boolean) => {
        ignored.add(resolve(candidate.path));
        (result.ignored ??= []).push(doubt);
        if (namesTrace) (result.ignoredOfTrace ??= []).push(doubt);
      };
      const ring = openRing(candidate, result, ignore);
      if (ring instanceof RingFile) {
        const stream = seen.has(ring.file) ? undefined : believedStream(candidate, ring, ignore);
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
    for (const { path, owner, removeBegun, isBlank, stream, beginning = 0 } of unready) {
      if (isBlank && stream !== undefined && (kindOf(stream)?.size ?? 0) > beginning) {
        result.faults.push(blankRing(path));
        continue;
      }
      if (owner === 'alive') continue;
      removeBegun?.();
      rmSync(path, { force: true });
      result.emptied.push(path);
    }
    for (const next of [...left]) {
      try {
        complete(next, left, result);
        const { dropped } = next.ring;
        if (dropped > 0) result.dropped = (result.dropped ?? 0) + dropped;
        left.splice(left.indexOf(next), 1);
      } catch (error) {
        // It stays among those that are left: the bytes that it has claimed are not free.
        const fault = asFault(next.stream, error);
        if (!result.faults.includes(fault)) result.faults.push(fault);
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

/** Notes a ring that is not believed, and whether it names this trace. */
type Ignore = (doubt: TracewrightError, namesTrace: boolean) => void;

/** The stream of a ring, if the ring is believed. */
function believedStream(
  candidate: Candidate,
  ring: RingFile,
  ignore: Ignore,
): string | TracewrightError | undefined {
  const stream = candidate.streamOf(ring);
  if (stream === undefined) return undefined;
  const doubt = ring.doubt(typeof stream === 'string' ? stream : ring.target);
  if (doubt === undefined) return stream;
  ignore(doubt, true);
  return undefined;
}

function openRing(
  { path, stream }: Candidate,
  result: Recovery,
  ignore: Ignore,
): RingFile | UnreadyRing | undefined {
  try {
    return RingFile.open(path, stream);
  } catch (error) {
    // Seen in its directory, and finished by a live thread before it could be opened.
    if (hasCode(error, 'ENOENT')) return undefined;
    if (isDoubt(error)) {
      ignore(error, stream !== undefined);
      return undefined;
    }
    // Whether its process lives, and what bytes of a shared file it has claimed, stays unknown.
    if (!(error instanceof TraceFormatError)) throw error;
    result.faults.push(error);
    return undefined;
  }
}
