import { existsSync, readdirSync, statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { extname, join } from 'node:path';
import { refuse } from '../../core/fault.js';
import type { OnFault } from '../../core/fault.js';
import { nameNotText } from '../../core/files/name-not-text.js';
import { hasCode, wrapSystemError } from '../../core/files/system-error.js';
import { EXTENSION } from '../../heph/file-names.js';
import { traceOf } from '../../heph/read/living-pass.js';

/** A trace that rotates may begin pieces while the earlier ones are read: so often is looked for them. */
const MOST_LOOKS = 4;

/**
 * The Heph traces at a path: a file is one, of a directory all below it. Links in it are not followed. A
 * piece of a trace comes again, before the next one, if that was begun meanwhile.
 *
 * @param onFault takes what is wrong with a directory below the path.
 */
export function* spanFiles(path: string, onFault?: OnFault): Generator<string, void> {
  const known = new Set<string>();
  const last = new Map<string, string>();
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const { size } = known;
    const again = new Set<string>();
    // A directory that cannot be read is reported once.
    for (const file of filesAt(path, onFault && (looks === 0 ? onFault : () => undefined))) {
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

/**
 * The same, of one look: pieces that begin meanwhile are not found.
 *
 * @param onDirectory is called with each directory before it is listed.
 */
export function* filesAt(
  path: string,
  onFault: OnFault | undefined,
  onDirectory?: (path: string) => void,
): Generator<string, void> {
  const stats = wrapSystemError('path', path, () => statSync(path));
  if (stats.isDirectory()) yield* filesIn(path, { onFault, onDirectory }, true);
  else yield path;
}

interface Search {
  onFault: OnFault | undefined;
  onDirectory: ((path: string) => void) | undefined;
}

/** @param isRoot it was asked for, and did not come from a list: it must be there. */
function* filesIn(path: string, search: Search, isRoot: boolean): Generator<string, void> {
  search.onDirectory?.(path);
  let entries: Dirent[] = [];
  try {
    entries = wrapSystemError('path', path, () => readdirSync(path, { withFileTypes: true }));
  } catch (error) {
    if (isRoot) throw error;
    refuseListed(path, search.onFault, error);
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const below = join(path, entry.name);
    if (entry.isDirectory()) yield* filesIn(below, search, false);
    else if (!entry.isFile() || extname(entry.name) !== EXTENSION) continue;
    else if (nameNotText(below) === undefined || existsSync(below)) yield below;
    else refuse(search.onFault, below, nameNotText(below));
  }
}

/** Refuses a listed file that is gone, unless it was deleted or renamed meanwhile. */
function refuseListed(path: string, onFault: OnFault | undefined, error: unknown): void {
  const fault = hasCode(error, 'ENOENT') ? nameNotText(path) : error;
  if (fault !== undefined) refuse(onFault, path, fault);
}
