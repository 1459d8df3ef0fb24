import { existsSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import { TraceFormatError } from '../../core/errors.js';
import { kindOf } from '../../core/files/file-kind.js';
import { checkRingIsLost, refuseLiveWriter } from '../../core/recovery/lost-ring.js';
import { checkEnd } from '../../core/recovery/own-file.js';
import { discardRing, endFile, recoverOwnFile } from '../../core/recovery/recover-file.js';
import { recoverRings } from '../../core/recovery/recover-rings.js';
import { RECOVER_OPTIONS, asFault, checkWait } from '../../core/recovery/recovery.js';
import { filesBelow, ringsBelow } from '../../core/recovery/ring-search.js';
import type { Candidate } from '../../core/recovery/recover-rings.js';
import type { Recovery, RecoverOptions } from '../../core/recovery/recovery.js';
import { whileLocked } from '../../core/recovery/recovery-lock.js';
import { ringsElsewhere } from '../../core/recovery/detached-ring.js';
import type { RingFile } from '../../core/recovery/ring-file.js';
import { hasCode } from '../../core/files/system-error.js';
import { STREAM_HEADER_BYTES } from '../layout.js';
import { endingOf } from './stream-ending.js';
import type { StreamOwner } from '../metadata-keys.js';
import { StreamOwners } from './stream-owners.js';
import {
  FINISHED_METADATA,
  HALF_WRITTEN_METADATA,
  RING_FORMAT,
  STREAM_METADATA,
  finishedMetadataOf,
  isNextToStream,
  isRing,
  isRingOfVersion3,
  isStream,
  isThreadName,
  metadataOf,
  processDirectoryOf,
  ringOf,
  streamOfRing,
  versionOf,
} from '../file-names.js';

/** Whether a path that a ring in a `ringDir` names is a stream inside the trace. */
function isStreamOf(target: string, trace: string): boolean {
  const directory = dirname(target);
  if (!isStream(basename(target), directory) || !existsSync(directory)) return false;
  return realpathSync(directory).startsWith(realpathSync(trace) + sep);
}

type NamedStream = StreamOwner & { stream: string };

/** The streams of a moved or copied trace, by the file names of the rings in their metadata. */
function streamsByRing(trace: string): Map<string, NamedStream> {
  const owners = new StreamOwners();
  const streams = new Map<string, NamedStream>();
  for (const stream of filesBelow(resolve(trace), isStream)) {
    const owner = owners.ownerOf(stream);
    if (owner !== undefined) streams.set(basename(owner.ring), { ...owner, stream });
  }
  return streams;
}

/** Deletes a stream without events, which no reader accepts. */
function removeEmpty(stream: string): void {
  const directory = dirname(stream);
  rmSync(stream, { force: true });
  if (versionOf(stream) === 3) {
    for (const name of [STREAM_METADATA, FINISHED_METADATA, ...HALF_WRITTEN_METADATA]) {
      rmSync(join(directory, name), { force: true });
    }
  }
}

/** Deletes a stream with no more than its header: the process died while it opened the stream. */
function removeBegun(stream: string): void {
  if ((kindOf(stream)?.size ?? 0) <= bytesBeforeEvents(stream)) removeEmpty(stream);
}

function bytesBeforeEvents(stream: string): number {
  return versionOf(stream) === 3 ? STREAM_HEADER_BYTES : 0;
}

/** Replaces a stream's metadata by the one of its end. */
function finishMetadata(stream: string, owners: StreamOwners): void {
  const directory = dirname(stream);
  for (const name of HALF_WRITTEN_METADATA) rmSync(join(directory, name), { force: true });
  if (versionOf(stream) === 3) {
    const finished = finishedMetadataOf(stream);
    if (kindOf(finished)?.isFile() === false) {
      throw new TraceFormatError(finished, 0, 'the metadata of the end must be a regular file');
    }
    try {
      renameSync(finished, metadataOf(stream));
      owners.replaced(stream);
      return;
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
  // An earlier recovery has done it, or the stream is of version 1, which has no such file.
  owners.release(stream);
}

function recoverStream(
  ring: RingFile,
  stream: string,
  owners: StreamOwners,
  result: Recovery,
): void {
  if (ring.head === 0) {
    checkEnd(stream, kindOf(stream)?.size ?? 0, ring);
    removeEmpty(stream);
    discardRing(ring);
    if (versionOf(stream) === 3) removeIfEmpty(dirname(stream));
    result.emptied.push(stream);
    return;
  }
  result.streams.push(
    recoverOwnFile(ring, stream, (read, end) => endingOf(stream, true, read, end)),
  );
  finishMetadata(stream, owners);
  discardRing(ring);
}

function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    // Other files there belong to others. The name of a directory of version 3 is a stream's of version 1.
    if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'ENOTDIR')) throw error;
    return false;
  }
}

function* candidates(trace: string, options: RecoverOptions): Generator<Candidate, void> {
  const isMine = (ring: RingFile) => ring.format.startsWith(RING_FORMAT);
  for (const path of ringsBelow(trace, isRing)) {
    yield {
      path,
      stream: streamOfRing(path),
      beginning: bytesBeforeEvents(streamOfRing(path)),
      streamOf: (ring) => (isMine(ring) ? streamOfRing(path) : undefined),
      removeBegun() {
        removeBegun(streamOfRing(path));
      },
    };
  }
  let named: Map<string, NamedStream> | undefined;
  yield* ringsElsewhere(options.ringDir, {
    isMine,
    holds: (path) => isStreamOf(path, trace),
    files: () => filesBelow(resolve(trace), isStream),
    labelOf: (path) => join(basename(dirname(path)), basename(path)),
    fileNaming({ path, process: { pid, start, boot } }) {
      named ??= streamsByRing(trace);
      const found = named.get(basename(path));
      const isIts = found?.pid === pid && found.start === start && found.boot === boot;
      return isIts ? found.stream : undefined;
    },
    siblings: (stream, { path }) => [{ from: path, to: ringOf(stream) }],
  });
}

/** Directories of processes, which a recovery of a single thread locks as well. */
function* directoriesOf(path: string): Generator<string, void> {
  yield path;
  const isEither = (name: string, directory: string) =>
    isStream(name, directory) || isRing(name, directory);
  for (const file of filesBelow(path, isEither)) {
    yield processDirectoryOf(file);
  }
}

/** Streams without a ring next to them. */
function* streamsWithoutRing(path: string): Generator<string, void> {
  for (const stream of filesBelow(path, isStream)) {
    if (!existsSync(ringOf(stream))) yield stream;
  }
}

/** Owners of the unfinished streams of a trace, wherever their rings are. */
export function* writersOf(path: string): Generator<StreamOwner, void> {
  const owners = new StreamOwners();
  for (const stream of filesBelow(resolve(path), isStream)) {
    // A version 3 stream without the metadata of its end is finished, so its metadata is not read.
    if (versionOf(stream) === 3 && !existsSync(finishedMetadataOf(stream))) continue;
    const owner = owners.ownerOf(stream);
    if (owner !== undefined) yield owner;
  }
}

function refuseIfAlive(path: string, owners: StreamOwners): void {
  for (const stream of streamsWithoutRing(path)) {
    const owner = owners.ownerOf(stream);
    if (owner !== undefined) refuseLiveWriter(stream, owner);
  }
}

/** Finishes a stream whose process is dead and whose ring is gone. */
function endWithoutRing(stream: string, owners: StreamOwners, result: Recovery): void {
  const owner = owners.ownerOf(stream);
  if (owner === undefined) return;
  checkRingIsLost(stream, owner, { isNextToStream: isNextToStream(owner.ring) });
  let events = 0;
  const done = endFile(stream, (read, size) => {
    const ending = endingOf(stream, false, read, size);
    ({ events } = ending);
    return ending;
  });
  if (events === 0) {
    removeEmpty(stream);
    if (versionOf(stream) === 3) removeIfEmpty(dirname(stream));
    result.emptied.push(stream);
    return;
  }
  finishMetadata(stream, owners);
  // The thread had ended, and its ring was deleted with the end of the stream.
  const isWhole = done.addedRecords === 0 && (done.cutBytes ?? 0) === 0;
  result.streams.push(isWhole ? done : { ...done, lostRing: owner.ring });
}

/**
 * Recovers an ovni trace of a process that has died. Recovery appends the events in the rings to the
 * streams, cuts an incomplete event, pops values that are still pushed on marks, ends threads, marks
 * streams as finished and deletes the rings. It may be interrupted and repeated.
 *
 * @param path a trace directory, or a part of one.
 * @throws TracewrightError `ERR_ORDER` if a process that writes the trace is alive, `ERR_TIMEOUT` if
 *   another process recovers it for longer than `waitMs`. Nothing has changed then.
 */
export function recoverTrace(path: string, options: RecoverOptions = {}): Recovery {
  const whole = checkPath('path', path);
  options = ownOptions(options, RECOVER_OPTIONS);
  return whileLocked(directoriesOf(whole), checkWait(options), () =>
    recoverStreams(whole, options),
  );
}

function recoverStreams(path: string, options: RecoverOptions): Recovery {
  refuseIfAlive(path, new StreamOwners());
  const owners = new StreamOwners();
  const result = recoverRings(candidates(path, options), ({ ring, stream }, _, all) => {
    recoverStream(ring, stream, owners, all);
  });
  for (const ring of result.emptied.filter(isRingOfVersion3)) {
    removeIfEmpty(dirname(ring));
  }
  for (const stream of streamsWithoutRing(path)) {
    try {
      endWithoutRing(stream, owners, result);
    } catch (error) {
      result.faults.push(asFault(stream, error));
    }
  }
  removeBegunThreads(result);
  owners.save();
  return result;
}

/**
 * Deletes empty directories of threads that a process had just begun when it died. Another thread's stream
 * that was recovered says that the process is dead.
 */
function removeBegunThreads(result: Recovery): void {
  const streams = [...result.streams.map(({ path }) => path), ...result.emptied];
  for (const process of new Set(streams.map(processDirectoryOf))) {
    if (!existsSync(process)) continue;
    for (const name of readdirSync(process).filter(isThreadName)) {
      const directory = join(process, name);
      if (removeIfEmpty(directory)) result.emptied.push(directory);
    }
  }
}
