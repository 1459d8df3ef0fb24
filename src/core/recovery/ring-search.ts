import { readdirSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import { hasCode, wrapSystemError } from '../files/system-error.js';

const DEEPEST = 16;

function entriesOf(directory: string, mayBeGone = false): Dirent[] {
  try {
    return wrapSystemError('path', directory, () =>
      readdirSync(directory, { withFileTypes: true }),
    );
  } catch (error) {
    if (mayBeGone && hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Files below `directory` whose names a test accepts. Links are not followed. */
export function* filesBelow(
  directory: string,
  accepts: (name: string, directory: string) => boolean,
  depth = 0,
): Generator<string, void> {
  for (const [path, entry] of entriesBelow(directory, accepts, depth)) {
    if (entry.isFile()) yield path;
  }
}

/**
 * Entries below `directory` that have the name of a ring: files, links and devices. Opening a link or a device as a
 * ring fails, and that is reported.
 */
export function* ringsBelow(
  directory: string,
  accepts: (name: string, directory: string) => boolean,
  depth = 0,
): Generator<string, void> {
  for (const [path] of entriesBelow(directory, accepts, depth)) yield path;
}

/** Everything but directories. */
function* entriesBelow(
  directory: string,
  accepts: (name: string, directory: string) => boolean,
  depth: number,
): Generator<[path: string, entry: Dirent], void> {
  // One that was seen in another may have been deleted by a recovery since.
  for (const entry of entriesOf(directory, depth > 0 && depth <= DEEPEST)) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) {
      if (accepts(entry.name, directory)) yield [path, entry];
    } else if (depth < DEEPEST) {
      yield* entriesBelow(path, accepts, depth + 1);
    }
  }
}

/** Entries with the name of a ring in a `ringDir`. */
export function ringsIn(directory: string): Generator<string, void> {
  return ringsBelow(directory, (name) => name.endsWith('.ring'), Infinity);
}
