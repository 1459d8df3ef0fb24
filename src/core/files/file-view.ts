import { readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { core } from '../addon.js';

/** Bytes that readers see from an offset of a file on, instead of its own. The file does not change. */
export interface FileView {
  /** Bytes from the start of the file. What lies before it is read from the file. */
  from: number;
  /** The bytes from there to the end that readers see. */
  bytes: Buffer;
}

type Identity = Pick<Stats, 'dev' | 'ino'>;

/** The views that are shown now, by the identity of their files. */
const shown = new Map<string, FileView>();

function keyOf({ dev, ino }: Identity): string {
  return `${dev}:${ino}`;
}

/**
 * Shows a view to everything in this thread that opens the file from now on.
 *
 * @param file what `fstat` says of it.
 * @returns what ends it.
 */
export function showView(file: Identity, view: FileView): () => void {
  const key = keyOf(file);
  shown.set(key, view);
  return () => {
    if (shown.get(key) === view) shown.delete(key);
  };
}

/** The view of an open file; undefined: readers see the file itself. */
export function viewOf(file: Identity): FileView | undefined {
  return shown.size === 0 ? undefined : shown.get(keyOf(file));
}

/** Like `readSync`, of what readers see. */
export function readSeen(
  fd: number,
  view: FileView | undefined,
  into: Buffer,
  at: number,
  count: number,
  position: number,
): number {
  if (view === undefined) return readSync(fd, into, at, count, position);
  if (position < view.from) {
    return readSync(fd, into, at, Math.min(count, view.from - position), position);
  }
  const inside = position - view.from;
  return view.bytes.copy(into, at, inside, Math.min(view.bytes.length, inside + count));
}

/** Where readers see bytes again, from an offset on: a hole of any size is passed in one step. -1: only a hole follows. */
export function nextSeen(fd: number, view: FileView | undefined, offset: number): number {
  const found = core.nextData(fd, offset);
  if (view === undefined || (found !== -1 && found < view.from)) return found;
  return Math.max(offset, view.from);
}
