import { closeSync, fstatSync, fsyncSync, ftruncateSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { TraceFormatError } from '../../core/errors.js';
import { writeAll } from '../../core/files/write-all.js';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import { ringsElsewhere } from '../../core/recovery/detached-ring.js';
import { discardRing, openTarget } from '../../core/recovery/recover-file.js';
import { discardUnused, recoverRingsLocked } from '../../core/recovery/recover-rings.js';
import type { Candidate, Complete } from '../../core/recovery/recover-rings.js';
import { RECOVER_OPTIONS } from '../../core/recovery/recovery.js';
import type { Recovery, RecoverOptions } from '../../core/recovery/recovery.js';
import type { RingFile } from '../../core/recovery/ring-file.js';
import { ringsBelow } from '../../core/recovery/ring-search.js';
import { fileOfRing } from '../file-names.js';
import { EPOCH_PACKET_BYTES } from '../layout.js';
import { cutEnd, lossesOf } from './cut-ends.js';
import { LivingFile } from './living-file.js';
import { PacketCursor } from './packet-cursor.js';

/**
 * Makes a file what a reader sees of it and its rings. The rings do not change, and what the file has already is
 * not added again, so an interrupted recovery is simply repeated.
 *
 * @returns what was found out of the rings; closed.
 * @throws TraceFormatError when the file is damaged; nothing is changed then.
 */
function writeOut(file: string, rings: readonly RingFile[]): LivingFile {
  const opened = { find: () => rings, faults: new Map(), close: () => undefined };
  const living = new LivingFile(file, { rings: opened });
  const cursor = new PacketCursor(file, { living });
  const fd = openTarget(file, ...rings);
  try {
    if (!living.isSame(fstatSync(fd))) throw new TraceFormatError(file, 0, 'it was replaced');
    const added = partsToAdd(cursor);
    const { end, loss } = living;
    if (loss !== undefined) cutEnd(file, fd, end);
    try {
      cutAt(fd, end);
      for (const { bytes, offset } of added) writeAll(fd, bytes, offset);
      fsyncSync(fd);
    } catch (error) {
      // Half an event would look like a lost end.
      cutAt(fd, end);
      throw error;
    }
    return living;
  } finally {
    closeSync(fd);
    cursor.close();
  }
}

function cutAt(fd: number, end: number): void {
  if (fstatSync(fd).size > end) ftruncateSync(fd, end);
}

/** Bytes that the rings add to a file, and their offsets there. */
function partsToAdd(cursor: PacketCursor): { bytes: Buffer; offset: number }[] {
  const added: { bytes: Buffer; offset: number }[] = [];
  try {
    while (cursor.next()) {
      const { bytes, inFile, offset } = cursor;
      if (!inFile && bytes !== added.at(-1)?.bytes) added.push({ bytes, offset });
    }
    return added;
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    const { path, offset, fault } = error;
    const message = `the file is damaged: ${fault}. The file and its rings are left as they are`;
    throw new TraceFormatError(path, offset, message, { field: 'magic' });
  }
}

function* candidates(file: string, options: RecoverOptions): Generator<Candidate, void> {
  const directory = dirname(file);
  const isMine = (ring: RingFile) => ring.format === 'heph' && ring.targetKind === 'shared-file';
  const isRing = (name: string) => fileOfRing(name) === basename(file);
  for (const path of ringsBelow(directory, isRing, Infinity)) {
    yield {
      path,
      stream: file,
      beginning: EPOCH_PACKET_BYTES,
      streamOf: (ring) => (isMine(ring) ? file : undefined),
    };
  }
  yield* ringsElsewhere(options.ringDir, {
    isMine,
    holds: (path) => path === file,
    files: () => [file],
    siblings: (_, { path }) => [{ from: path, to: join(directory, basename(path)) }],
  });
}

function recoverFile(file: string, options: RecoverOptions, complete: Complete): Recovery {
  return recoverRingsLocked(
    () => candidates(file, options),
    () => [dirname(file)],
    options,
    complete,
  );
}

/**
 * Recovers a Heph file of a dead process: writes the events in its rings to the file and deletes the
 * rings. It can be interrupted and repeated.
 *
 * @param path the trace's file.
 * @throws TracewrightError `ERR_ORDER` when a process that writes the trace is alive, `ERR_TIMEOUT`
 *   when another recovers it for longer than `waitMs`; nothing is changed then.
 */
export function recoverTrace(path: string, options: RecoverOptions = {}): Recovery {
  return recoverCounting(path, options, () => true);
}

/** As `recoverTrace`. @param counts whether an event that was open is one of the `addedRecords`. */
export function recoverCounting(
  path: string,
  options: RecoverOptions,
  counts: (event: Buffer) => boolean,
): Recovery {
  const file = checkPath('path', path);
  options = ownOptions(options, RECOVER_OPTIONS);
  let living: LivingFile | undefined;
  let failure: unknown;
  const done = recoverFile(file, options, (leftover, left, result) => {
    if (discardUnused(leftover, result)) return;
    try {
      if (failure === undefined)
        living ??= writeOut(
          file,
          left.map(({ ring }) => ring),
        );
    } catch (error) {
      failure = error;
    }
    if (living === undefined) throw failure;
    const { ring } = leftover;
    const addedRecords = living.recordsAddedBy(ring, counts);
    result.streams.push({ path: file, bytes: ring.head - ring.tail, addedRecords });
    discardRing(ring);
  });
  done.faults.push(...lossesOf(file));
  return done;
}

/**
 * Deletes the rings of a file that was removed, so that a new file at its path does not get their
 * events. A ring with events in a directory of its own is kept: the file may have been moved.
 *
 * @throws TracewrightError as {@link recoverTrace}.
 */
export function discardRings(path: string, options: RecoverOptions = {}): Recovery {
  return recoverFile(resolve(path), options, ({ ring, stream }, _, result) => {
    discardRing(ring);
    result.emptied.push(stream);
  });
}
