import { existsSync, realpathSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { discardRing, recoverOwnFile } from '../core/recover-ring.js';
import { filesBelow, recoverRings, ringsIn } from '../core/recovery.js';
import type { Candidate, Recovery, RecoverOptions } from '../core/recovery.js';
import type { RingFile } from '../core/ring-file.js';
import { hasCode } from '../core/system-error.js';

/** A ring lies beside its stream under a name that follows from the stream's. */
function isRing(name: string, directory: string): boolean {
  return name === '.stream.ring'
    ? /^thread\.\d+$/.test(basename(directory))
    : /^\.thread\.\d+\.ring$/.test(name) && /^proc\.\d+$/.test(basename(directory));
}

/** The stream that a ring feeds, from where the ring lies. */
function streamOf(ringPath: string): string {
  const name = basename(ringPath);
  return name === '.stream.ring'
    ? join(dirname(ringPath), 'stream.obs')
    : join(dirname(ringPath), name.slice(1, -'.ring'.length));
}

/**
 * The stream of a ring that lies elsewhere: the only case in which the path that the ring states
 * counts, and only when it is a stream inside the trace.
 */
function statedStream(ring: RingFile, trace: string): string | undefined {
  const { target } = ring;
  const directory = dirname(target);
  const plausible =
    (basename(target) === 'stream.obs' && /^thread\.\d+$/.test(basename(directory))) ||
    (/^thread\.\d+$/.test(basename(target)) && /^proc\.\d+$/.test(basename(directory)));
  if (!plausible || !existsSync(directory)) return undefined;
  return realpathSync(directory).startsWith(realpathSync(trace) + sep) ? target : undefined;
}

function recoverStream(ring: RingFile, stream: string, result: Recovery): void {
  const directory = dirname(stream);
  const version3 = basename(stream) === 'stream.obs';
  if (ring.head === 0) {
    // No reader accepts a stream without events.
    rmSync(stream, { force: true });
    discardRing(ring);
    if (version3) {
      rmSync(join(directory, 'stream.json'), { force: true });
      rmSync(join(directory, '.stream.json.finished'), { force: true });
      rmdirSync(directory);
    }
    result.emptied.push(stream);
    return;
  }
  result.streams.push(recoverOwnFile(ring, stream));
  if (version3) {
    try {
      renameSync(join(directory, '.stream.json.finished'), join(directory, 'stream.json'));
    } catch (error) {
      // An earlier recovery came this far.
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  discardRing(ring);
}

function* candidates(trace: string, options: RecoverOptions): Generator<Candidate, void> {
  const isMine = (ring: RingFile) => ring.format.startsWith('ovni ');
  for (const path of filesBelow(trace, isRing)) {
    yield { path, streamOf: (ring) => (isMine(ring) ? streamOf(path) : undefined) };
  }
  if (options.ringDir === undefined) return;
  for (const path of ringsIn(options.ringDir)) {
    yield { path, streamOf: (ring) => (isMine(ring) ? statedStream(ring, trace) : undefined) };
  }
}

/**
 * Finishes what a dead process has left of an ovni trace: what its rings still hold goes to the
 * streams, threads that had not ended get their end, streams are marked as finished, rings are
 * removed. It may be interrupted and repeated at will.
 *
 * @param path a trace directory, or a part of one.
 * @throws TracewrightError `ERR_ORDER` when a process that writes the trace is alive; nothing is
 *   touched then.
 */
export function recoverTrace(path: string, options: RecoverOptions = {}): Recovery {
  return recoverRings(candidates(path, options), ({ ring, stream }, _, result) => {
    recoverStream(ring, stream, result);
  });
}
