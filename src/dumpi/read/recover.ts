import { existsSync, lstatSync, realpathSync, rmSync, statSync } from 'node:fs';
import { endianness } from 'node:os';
import { basename, dirname, sep } from 'node:path';
import { checkPath, ownOptions } from '../../core/options/argument.js';
import { TraceFormatError } from '../../core/errors.js';
import { discardRing, recoverOwnFile } from '../../core/recovery/recover-file.js';
import type { RecoveredStream, Recovery, RecoverOptions } from '../../core/recovery/recovery.js';
import { recoverRingsLocked } from '../../core/recovery/recover-rings.js';
import { RECOVER_OPTIONS } from '../../core/recovery/recovery.js';
import { filesBelow } from '../../core/recovery/ring-search.js';
import type { Candidate } from '../../core/recovery/recover-rings.js';
import { ringsElsewhere } from '../../core/recovery/detached-ring.js';
import { RingFile } from '../../core/recovery/ring-file.js';
import type { UnreadyRing } from '../../core/recovery/ring-file.js';
import { isDoubt } from '../../core/recovery/recovery-errors.js';
import { hasCode } from '../../core/files/system-error.js';
import { COUNTED_LABELS } from '../calls.js';
import { DatatypeSizes } from '../datatype-sizes.js';
import { FieldCursor } from './field-cursor.js';
import { CALLS_FORMAT, fileOfRing, namesRingOf, rankRings, sideFiles } from '../file-names.js';
import { readKeptSections } from '../kept-sections.js';
import { BIASES_BYTES, BODY_OFFSET, TURN_ADDRESSES } from '../layout.js';
import type { Clock } from '../layout.js';
import { CallCursor } from './reader.js';
import { writeTrailer } from '../trailer.js';
import type { StoredNames } from '../trailer.js';

const CLOCKS: readonly Clock[] = ['wall', 'cpu'];

/** Undefined where there is none, or none that is believed. */
function namesRingAt(path: string, file: string): RingFile | UnreadyRing | undefined {
  try {
    return existsSync(path) ? RingFile.open(path, file) : undefined;
  } catch (error) {
    if (isDoubt(error)) return undefined;
    throw error;
  }
}

/** Completes the file of the names from its ring and counts them. */
function recoverNames(ringPath: string, file: string): StoredNames {
  const ring = namesRingAt(ringPath, file);
  if (ring instanceof RingFile) {
    recoverOwnFile(ring, file);
    ring.close();
  }
  if (!existsSync(file)) return { file, count: 0, bytes: 0 };
  const cursor = new FieldCursor(file, 0);
  let count = 0;
  try {
    while (cursor.remaining > 0) {
      cursor.beginRecord();
      cursor.u64('function address');
      cursor.string('function name');
      count += 1;
    }
    return { file, count, bytes: cursor.offset };
  } finally {
    cursor.close();
  }
}

/**
 * Walks a body: counts its calls, learns the sizes of datatypes that they make, and finds the clocks
 * whose seconds begin again in it.
 */
function surveyCalls(
  file: string,
  bodyEnd: number,
  sizes: DatatypeSizes,
): { counts: number[]; turned: Set<Clock> } {
  const counts = new Array<number>(COUNTED_LABELS).fill(0);
  const turned = new Set<Clock>();
  const cursor = new CallCursor(file, BODY_OFFSET, bodyEnd);
  try {
    while (!cursor.atLimit) {
      const call = cursor.next();
      if (call === undefined)
        throw new TraceFormatError(file, cursor.offset, 'the calls end early');
      if (call.label < COUNTED_LABELS) counts[call.label]! += 1;
      sizes.learn(call.name, call.fields);
      const { fn } = call.fields as { fn?: unknown };
      for (const clock of CLOCKS) if (fn === TURN_ADDRESSES[clock]) turned.add(clock);
    }
  } finally {
    cursor.close();
  }
  return { counts, turned };
}

function ignoredIn(ring: RingFile): number[] {
  const note = ring.note(4 * COUNTED_LABELS);
  const view = new DataView(note.buffer, note.byteOffset, note.length);
  const little = endianness() === 'LE';
  return Array.from({ length: COUNTED_LABELS }, (_, label) => view.getUint32(4 * label, little));
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Deletes the files of a rank that was being opened. */
function removeBegun(file: string, callsRing: string): void {
  const { names, sections } = sideFiles(file);
  for (const path of [file, namesRingOf(callsRing), names, sections]) rmSync(path, { force: true });
}

/**
 * Completes a rank's file: the calls that its ring holds, the end of the stream and all sections, as
 * far as the walk over the calls and what was kept next to the ring can say.
 *
 * @returns undefined when the rank had not been opened yet; its file is deleted.
 */
function recoverRank(ring: RingFile, file: string): RecoveredStream | undefined {
  const side = sideFiles(file);
  const namesRing = namesRingOf(ring.path);
  // The process died while it wrote this; what it was to replace is whole.
  rmSync(side.newSections, { force: true });
  const size = sizeOf(file);
  const begun = ring.head > 0 || size > ring.baseOffset;
  // The process died while it opened the rank, or its file was deleted since.
  if (!begun && (size === 0 || !existsSync(side.sections))) {
    removeBegun(file, ring.path);
    return undefined;
  }
  if (!existsSync(side.sections)) {
    // Deleted only when the file was complete: its process died before the ring was.
    rmSync(namesRing, { force: true });
    rmSync(side.names, { force: true });
    return { path: file, bytes: 0, addedRecords: 0 };
  }
  const kept = readKeptSections(side.sections);
  const recovered = recoverOwnFile(ring, file);
  const bodyEnd = ring.baseOffset + ring.head;
  const sizes = new DatatypeSizes(kept.datatypeSizes);
  const { counts, turned } = surveyCalls(file, bodyEnd, sizes);
  writeTrailer(file, bodyEnd, {
    kept: { ...kept, datatypeSizes: sizes.list },
    stored: counts,
    ignored: ignoredIn(ring),
    names: recoverNames(namesRing, side.names),
    turned,
  });
  // First, for its absence says that the file is complete.
  rmSync(side.sections, { force: true });
  rmSync(namesRing, { force: true });
  rmSync(side.names, { force: true });
  return recovered;
}

function isDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Whether a ring elsewhere says to feed a file in a directory. */
function isRankBelow(target: string, directory: string): boolean {
  if (!target.endsWith('.bin') || !existsSync(dirname(target))) return false;
  return (realpathSync(dirname(target)) + sep).startsWith(realpathSync(directory) + sep);
}

function* candidates(path: string, options: RecoverOptions): Generator<Candidate, void> {
  const isFile = !isDirectory(path);
  const isMine = (ring: RingFile): boolean => ring.format === CALLS_FORMAT;
  const expected = rankRings(path, undefined, '').calls;
  const rings = isFile
    ? filesBelow(dirname(path), (name) => name === basename(expected), Infinity)
    : filesBelow(path, (name) => fileOfRing(name) !== undefined);
  for (const each of rings) {
    const stream = fileOfRing(each);
    yield {
      path: each,
      ...(stream === undefined ? {} : { stream }),
      streamOf: (ring) => (isMine(ring) ? fileOfRing(each) : undefined),
      removeBegun() {
        const file = fileOfRing(each);
        if (file !== undefined && sizeOf(file) <= BODY_OFFSET + BIASES_BYTES)
          removeBegun(file, each);
      },
    };
  }
  yield* ringsElsewhere(options.ringDir, {
    isMine,
    holds: (file) => (isFile ? file === path : isRankBelow(file, path)),
    files: () => (isFile ? [path] : filesBelow(path, (name) => name.endsWith('.bin'))),
    siblings(file, ring) {
      const { calls, names } = rankRings(file, undefined, '');
      return [
        { from: ring.path, to: calls },
        { from: namesRingOf(ring.path), to: names },
      ];
    },
  });
}

/** Those in which ranks may lie, so that nobody recovers one of them by its own name meanwhile. */
function* directoriesOf(path: string): Generator<string, void> {
  if (!isDirectory(path)) {
    yield dirname(path);
    return;
  }
  yield path;
  const isRank = (name: string) => name.endsWith('.bin') || fileOfRing(name) !== undefined;
  for (const file of filesBelow(path, isRank)) yield dirname(file);
}

/**
 * Completes what a dead process has left of a run's ranks: the calls that their rings still hold, the
 * end of the stream, header, footer, pairs, names and index. It may be interrupted and repeated.
 *
 * @param path a rank's file, or a directory with the files of a run.
 * @throws TracewrightError `ERR_ORDER` when a process that writes the trace is alive, `ERR_TIMEOUT`
 *   when another recovers it for longer than `waitMs`; nothing is touched then.
 */
export function recoverTrace(path: string, options: RecoverOptions = {}): Recovery {
  const file = checkPath('path', path);
  options = ownOptions<RecoverOptions>(options, RECOVER_OPTIONS);
  return recoverRingsLocked(
    () => candidates(file, options),
    () => directoriesOf(file),
    options,
    ({ ring, stream }, _, result) => {
      const recovered = recoverRank(ring, stream);
      if (recovered === undefined) result.emptied.push(stream);
      else result.streams.push(recovered);
      discardRing(ring);
    },
  );
}
