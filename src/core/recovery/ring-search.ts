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

/** Files below `directory` whose names a test accepts, without following links. */
export function* filesBelow(
  directory: string,
  accepts: (name: string, directory: string) => boolean,
  depth = 0,
): Generator<string, void> {
  // One that was seen in another may have been deleted by a recovery since.
  for (const entry of entriesOf(directory, depth > 0 && depth <= DEEPEST)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && depth < DEEPEST) yield* filesBelow(path, accepts, depth + 1);
    else if (entry.isFile() && accepts(entry.name, directory)) yield path;
  }
}

/** Rings in a directory that was set aside for them. */
export function* ringsIn(directory: string): Generator<string, void> {
  for (const entry of entriesOf(directory)) {
    if (entry.isFile() && entry.name.endsWith('.ring')) yield join(directory, entry.name);
  }
}
