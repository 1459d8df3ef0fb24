import { readdirSync, statSync } from 'node:fs';
import { BoundedCache } from '../bounded-cache.js';

const MOST_DIRECTORIES = 64;
const LONGEST_PATH = 4096;
/** So long after its last change a further one surely has another time. */
const SURE_MS = 2000;

interface Listing {
  names: readonly string[];
  ino: number;
  /** NaN: the directory is listed again the next time. */
  ctimeMs: number;
}

/** By suffix and directory. */
const listings = new BoundedCache<Listing>(MOST_DIRECTORIES, LONGEST_PATH, () => ({
  names: [],
  ino: 0,
  ctimeMs: NaN,
}));

/**
 * The names in a directory that end with a suffix. Readers ask for the rings of each file of a directory: the directory
 * is listed once for all of its files, and again when it has changed.
 *
 * @throws the system's error if it cannot be listed.
 */
export function namesEnding(suffix: string, directory: string): readonly string[] {
  const now = Date.now();
  const { ino, ctimeMs } = statSync(directory);
  const listing = listings.of(`${suffix}\0${directory}`);
  if (listing.ino === ino && listing.ctimeMs === ctimeMs) return listing.names;
  listing.names = readdirSync(directory).filter((name) => name.endsWith(suffix));
  listing.ino = ino;
  listing.ctimeMs = now - ctimeMs > SURE_MS ? ctimeMs : NaN;
  return listing.names;
}
