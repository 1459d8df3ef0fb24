import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import {
  cutUnfinishedRecord,
  discardRing,
  endOfClaim,
  recoverSharedFile,
} from '../core/recover-ring.js';
import { checkOptionNames, checkPath } from '../core/argument.js';
import {
  RECOVER_OPTIONS,
  discardUnused,
  filesBelow,
  recoverRings,
  ringsIn,
} from '../core/recovery.js';
import type { Candidate, Leftover, Recovery, RecoverOptions } from '../core/recovery.js';
import type { RingFile } from '../core/ring-file.js';

/** Where the file ends as far as others than a ring have noted. */
function endWithout(ring: RingFile, file: string, rings: readonly Leftover[]): number {
  return rings.reduce(
    (end, { ring: { claim, tail, path } }) =>
      path !== ring.path && claim.to > tail ? Math.max(end, endOfClaim(claim)) : end,
    statSync(file).size,
  );
}

function* candidates(file: string, options: RecoverOptions): Generator<Candidate, void> {
  const directory = dirname(file);
  const prefix = `.${basename(file)}.`;
  const isMine = (ring: RingFile) => ring.format === 'heph' && ring.targetKind === 'shared-file';
  const isRing = (name: string) =>
    name.startsWith(prefix) && /^\d+-\d+-\d+\.ring$/.test(name.slice(prefix.length));
  for (const path of filesBelow(directory, isRing, Infinity)) {
    yield { path, streamOf: (ring) => (isMine(ring) ? file : undefined) };
  }
  if (options.ringDir === undefined) return;
  for (const path of ringsIn(options.ringDir)) {
    yield {
      path,
      streamOf: (ring) => (isMine(ring) && ring.target === file ? file : undefined),
    };
  }
}

/**
 * Finishes what a dead process has left of a Heph file: what its rings still hold goes to the file,
 * and the rings are removed. It may be interrupted and repeated at will.
 *
 * @param path the trace's file.
 * @throws TracewrightError `ERR_ORDER` when a process that writes the trace is alive; nothing is
 *   touched then.
 */
export function recoverTrace(path: string, options: RecoverOptions = {}): Recovery {
  const file = checkPath('path', path);
  checkOptionNames<RecoverOptions>(options, RECOVER_OPTIONS);
  return recoverRings(candidates(file, options), (leftover, left, result) => {
    if (discardUnused(leftover, result)) return;
    const { ring, stream } = leftover;
    for (const other of left) cutUnfinishedRecord(other.ring, other.stream);
    result.streams.push(recoverSharedFile(ring, stream, endWithout(ring, stream, left)));
    discardRing(ring);
  });
}

/**
 * Takes away the rings of a file that somebody has removed: a new one in its place must not get what
 * they hold.
 *
 * @throws TracewrightError as {@link recoverTrace}.
 */
export function discardRings(path: string, options: RecoverOptions = {}): Recovery {
  return recoverRings(candidates(resolve(path), options), ({ ring, stream }, _, result) => {
    discardRing(ring);
    result.emptied.push(stream);
  });
}
