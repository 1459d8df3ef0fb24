import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { anchoredPath } from '../../core/files/anchor.js';
import { isDirectory, kindOf } from '../../core/files/file-kind.js';
import { hasCode } from '../../core/files/system-error.js';
import { fileOfRing, RUN_FOLDER as HEPH_FOLDER } from '../../heph/file-names.js';
import { PROCESS_METADATA } from '../../ovni/file-names.js';

const DELETED = '.deleted';

export interface TraceContent {
  /** Without the rings. */
  bytes: number;
  /** When it was last written to, in milliseconds. */
  time: number;
  /** Rings: a process writes there, or recovery is due. */
  rings: string[];
  /** Whether something of it has a hidden name: metadata, until its thread ends. Rings may be elsewhere. */
  isHidden: boolean;
  /** Whether an ovni stream of version 1 is in it, which does not show by names whether it has ended. */
  isVersion1: boolean;
}

/** Files at a path and below it; one that goes away meanwhile is passed over. */
export function contentOf(path: string): TraceContent {
  const content: TraceContent = {
    bytes: 0,
    time: 0,
    rings: [],
    isHidden: false,
    isVersion1: false,
  };
  const stats = kindOf(path);
  if (stats === undefined) return content;
  content.time = stats.mtimeMs;
  if (stats.isDirectory()) {
    for (const name of namesIn(path)) {
      const below = contentOf(join(path, name));
      content.bytes += below.bytes;
      content.time = Math.max(content.time, below.time);
      content.rings.push(...below.rings);
      content.isHidden ||= name.startsWith('.') || below.isHidden;
      content.isVersion1 ||= name === PROCESS_METADATA || below.isVersion1;
    }
  } else if (path.endsWith('.ring')) {
    content.rings.push(path);
  } else {
    content.bytes = stats.size;
  }
  return content;
}

/** The names in a directory; none where there is a link to one, for what that leads to is no trace of ours. */
export function namesIn(directory: string): string[] {
  try {
    return isDirectory(directory) ? readdirSync(anchoredPath(`${directory}/.`)) : [];
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}

/** Whether a path is that of a Heph trace of the hook. */
export function isHeph(path: string): boolean {
  return basename(dirname(path)) === HEPH_FOLDER;
}

/** Files of a trace: its rings lie within it, or, of Heph, next to it. */
export function contentOfTrace(path: string): TraceContent {
  const content = contentOf(path);
  if (isHeph(path)) content.rings = ringsNextTo(path);
  content.isHidden ||= basename(path).startsWith('.');
  return content;
}

function ringsNextTo(path: string): string[] {
  const directory = dirname(path);
  return namesIn(directory)
    .filter((name) => fileOfRing(name) === basename(path))
    .map((name) => join(directory, name));
}

/** Removes a trace: it is out of sight at once, and gone a little later. */
export function removeTrace(path: string): void {
  const hidden = join(dirname(path), `.${basename(path)}${DELETED}`);
  renameSync(anchoredPath(path), anchoredPath(hidden));
  rmSync(anchoredPath(hidden), { recursive: true, force: true });
}

/** The name of the trace that a process was about to remove when it was killed. */
export function halfRemoved(name: string): string | undefined {
  return name.startsWith('.') && name.endsWith(DELETED)
    ? name.slice(1, -DELETED.length)
    : undefined;
}
