import { readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { wrapSystemError } from '../../core/files/system-error.js';
import { EXTENSION } from '../../heph/file-names.js';
import { traceOf } from '../../heph/read/living-pass.js';

/** A trace that rotates may begin pieces while the earlier ones are read: so often is looked for them. */
const MOST_LOOKS = 4;

/**
 * The Heph traces at a path: a file is one, of a directory all below it. Links in it are not followed. A
 * piece of a trace comes again, before the next one, if that was begun meanwhile.
 */
export function* spanFiles(path: string): Generator<string, void> {
  const known = new Set<string>();
  const last = new Map<string, string>();
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const { size } = known;
    const again = new Set<string>();
    for (const file of filesAt(path)) {
      if (known.has(file)) continue;
      known.add(file);
      const trace = traceOf(file);
      const before = last.get(trace);
      if (looks > 0 && before !== undefined && !again.has(trace)) yield before;
      again.add(trace);
      last.set(trace, file);
      yield file;
    }
    if (known.size === size || known.has(path)) return;
  }
}

function* filesAt(path: string): Generator<string, void> {
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
    if (entry.isDirectory()) yield* filesAt(below);
    else if (entry.isFile() && extname(entry.name) === EXTENSION) yield below;
  }
}
