import type { Stats } from 'node:fs';
import { isAbsolute } from 'node:path';
import { entryOf } from '../map-entries.js';
import { TracewrightError } from '../errors.js';
import type { RingWriter } from '../recovery/lost-ring.js';
import { checkJoin } from '../recovery/own-file.js';
import { isAliveHere } from '../recovery/ring-owner.js';
import type { RingPage } from '../recovery/ring-page.js';
import { LivingRing } from './living-ring.js';
import { RingDirectories } from './ring-directories.js';
import { TraceView } from './trace-view.js';
import type { TraceViewer } from './trace-view.js';

/** The content of a ring that feeds a file of its own. */
interface OwnFileCopy {
  page: RingPage;
  /** Where the copy begins in the file, in bytes. What precedes it is in the file. */
  from: number;
  bytes: Buffer;
  /** Bytes that were copied and discarded: the writer had released them, so they are in the file. */
  overtaken: number;
}

/**
 * Copies what a ring holds. Position p of it is byte base + p of the file, so the copy needs no other
 * reading of its records, and it ends where a record ends.
 */
export function copyOwnRing(ring: LivingRing): OwnFileCopy {
  const page = ring.sample();
  const bytes = ring.content.read(page, page.tail, page.head);
  // The producer writes over nothing that the tail has not passed.
  const tail = Math.min(page.head, Math.max(page.tail, ring.releasedTo()));
  const overtaken = tail - page.tail;
  return { page, from: page.baseOffset + tail, bytes: bytes.subarray(overtaken), overtaken };
}

/** Where the ring of a file may lie. */
interface RingLocations {
  /** Next to the file, whose name it says. */
  nextTo: string;
  /** Where the writer had it: there it must have noted this file. */
  noted?: string | undefined;
  /** Directories with rings. */
  directories: RingDirectories;
  isFormat: (format: string) => boolean;
}

/**
 * Opens the ring that alone feeds a file.
 *
 * @param file what `fstat` says of the file.
 * @throws TraceFormatError when it is damaged.
 * @returns undefined if there is none, or none of the file's owner.
 */
export function openOwnRing(file: Stats, locations: RingLocations): LivingRing | undefined {
  const { nextTo, noted, directories, isFormat } = locations;
  const elsewhere = directories.ofFile(file);
  if (noted !== undefined && isAbsolute(noted)) elsewhere.unshift(noted);
  for (const path of new Set([nextTo, ...elsewhere])) {
    const ring = LivingRing.open(path, file);
    if (ring === undefined) continue;
    const { format, targetKind, targetFile } = ring.sample();
    const isFed = path === nextTo || targetFile.inode === BigInt(file.ino);
    if (targetKind === 'own-file' && isFormat(format) && isFed) return ring;
    ring.close();
  }
  return undefined;
}

/**
 * Shows traces of which each file has a ring of its own. Directories with rings are read once for all.
 *
 * @param show completes one trace.
 */
export function ownFileViewer(
  show: (view: TraceView, path: string, directories: RingDirectories) => void,
): TraceViewer {
  const known = new Map<string, RingDirectories>();
  return (path, ringDirs = []) => {
    const key = ringDirs.join('\0');
    const directories = entryOf(known, key, () => new RingDirectories(ringDirs));
    const view = new TraceView();
    show(view, path, directories);
    return view;
  };
}

/**
 * Notes in a view what a ring adds to a file, and whether its process runs.
 *
 * @throws TraceFormatError when the ring feeds another file.
 */
export function noteRing(
  view: TraceView,
  file: { path: string; fd: number },
  ring: LivingRing,
  copy: OwnFileCopy,
): void {
  checkJoin(file.path, file.fd, ring, copy);
  view.overtaken += copy.overtaken;
  if (ring.isRunning) view.noteAlive(ring.pid);
  else view.noteDead();
}

/**
 * Notes in a view that the ring of a file is not here.
 *
 * @param latest what a live process has in it, for the message.
 * @returns whether the process runs.
 */
export function noteMissingRing(
  view: TraceView,
  path: string,
  writer: RingWriter,
  latest: string,
): boolean {
  const isAlive = isAliveHere(writer);
  const lost = isAlive ? `its latest ${latest} are missing` : 'what it held is lost';
  const message = `${path}: its ring ${writer.ring} is not here: ${lost}`;
  view.faults.push(
    new TracewrightError('ERR_SYSTEM', message, { field: 'ringDir', value: writer.ring }),
  );
  if (isAlive) view.noteAlive(writer.pid);
  else view.noteDead();
  return isAlive;
}
