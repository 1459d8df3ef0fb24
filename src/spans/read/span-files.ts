import { readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { wrapSystemError } from '../../core/files/system-error.js';
import { EXTENSION } from '../../heph/file-names.js';

/** The Heph traces at a path: a file is one, of a directory all below it. Links in it are not followed. */
export function* spanFiles(path: string): Generator<string, void> {
  const stats = wrapSystemError('path', path, () => statSync(path));
  if (!stats.isDirectory()) {
    yield path;
    return;
  }
  const entries = wrapSystemError('path', path, () => readdirSync(path, { withFileTypes: true }));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const below = join(path, entry.name);
    if (entry.isDirectory()) yield* spanFiles(below);
    else if (entry.isFile() && extname(entry.name) === EXTENSION) yield below;
  }
}
