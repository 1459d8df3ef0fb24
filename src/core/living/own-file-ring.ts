import type { Stats } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { RingPage } from '../recovery/ring-page.js';
import { LivingRing } from './living-ring.js';
import type { RingDirectories } from './ring-directories.js';

/** What a ring held, of a file that it alone feeds. */
export interface OwnFileCopy {
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
