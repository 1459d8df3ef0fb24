import { fstatSync, realpathSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { TraceFormatError } from '../errors.js';
import { namesEnding } from '../files/directory-names.js';
import { LivingRing } from './living-ring.js';

/** The names of a format's rings. */
type FileOfRing = (ring: string) => string | undefined;

interface RingSearch {
  /** The file that a ring next to it feeds. */
  fileOfRing: FileOfRing;
  /** Of those that feed such a file, what a ring says of its format. */
  isFormat: (format: string) => boolean;
  /** Further directories with rings, which note the file that they feed. */
  ringDirs: readonly string[];
}

function ringsIn(directory: string): readonly string[] {
  try {
    return namesEnding('.ring', directory);
  } catch {
    // What cannot be listed has nothing to read.
    return [];
  }
}

/** Rings lie next to the file itself, not next to a link to it. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Deleted since it was opened.
    return path;
  }
}

/** The rings of one file, each opened once, however often it is looked for them. */
export class RingsOfFile {
  readonly #file: string;
  readonly #fd: number;
  readonly #search: RingSearch;
  readonly #open = new Map<string, LivingRing>();
  /** Faults of rings that cannot be read, by path. */
  readonly faults = new Map<string, TraceFormatError>();

  /** @param fd of the file. */
  constructor(path: string, fd: number, search: RingSearch) {
    this.#file = realPath(path);
    this.#fd = fd;
    this.#search = search;
  }

  /**
   * Those that are there now, and those that were there before: what a ring holds counts also when a recovery
   * has removed it.
   */
  find(): LivingRing[] {
    const { fileOfRing, ringDirs } = this.#search;
    const [directory, name] = [dirname(this.#file), basename(this.#file)];
    const status = fstatSync(this.#fd);
    for (const searched of new Set([directory, ...ringDirs])) {
      for (const entry of ringsIn(searched)) {
        const path = join(searched, entry);
        const fed = fileOfRing(path);
        if (fed === undefined || basename(fed) !== name || this.#open.has(path)) continue;
        this.#add(path, status, searched !== directory);
      }
    }
    return [...this.#open.values()];
  }

  close(): void {
    for (const ring of this.#open.values()) ring.close();
    this.#open.clear();
  }

  #add(path: string, status: Stats, isElsewhere: boolean): void {
    let ring: LivingRing | undefined;
    try {
      ring = LivingRing.open(path, status);
      if (ring === undefined) return;
      const { format, targetFile, targetKind } = ring.front;
      const isMine = targetKind !== 'socket' && this.#search.isFormat(format);
      // Elsewhere a name says nothing: files of many directories may have their rings there.
      const isFed = !isElsewhere || targetFile.inode === BigInt(status.ino);
      if (isMine && isFed) this.#open.set(path, ring);
      else ring.close();
    } catch (error) {
      ring?.close();
      if (!(error instanceof TraceFormatError)) throw error;
      this.faults.set(path, error);
    }
  }
}
