import { core } from '../addon.js';
import { wrapSystemError } from './system-error.js';

/**
 * Directories that the process holds open. The owner of a directory above one of them can
 * replace it by a link at any time; the native core goes by what is held, not by the path. It opens a
 * held directory again if that was deleted and made anew by the same user.
 *
 * Node has no calls relative to a directory. On Linux `anchoredPath` leads through `/proc/self/fd`;
 * elsewhere, and without /proc, it is the path itself.
 */

const { permission } = process as { permission?: { has(scope: string, path: string): boolean } };
/** Node's permission model, if it allows the directories of the trace alone, refuses them through /proc. */
const isByPath = permission?.has('fs.write', '/proc/self/fd') === false;

/**
 * Holds a directory that the user has named, and follows a link to it.
 *
 * @throws TracewrightError `ERR_SYSTEM` when it cannot be opened.
 */
export function anchorNamedDirectory(path: string): void {
  wrapSystemError('path', path, () => {
    core.anchorDirectory(path, false);
  });
}

/**
 * Holds a directory that this process, or an earlier one of its user or of root, has made.
 *
 * @throws TracewrightError `ERR_SYSTEM` also when it is a link, or belongs to another user.
 */
export function anchorOwnDirectory(path: string): void {
  wrapSystemError('path', path, () => {
    core.anchorDirectory(path, true);
  });
}

export const {
  /** Lets go of a directory. */
  releaseDirectory,
} = core;

/** A path for node:fs that leads below the innermost held directory above it. */
export function anchoredPath(path: string): string {
  return isByPath ? path : core.anchoredPath(path);
}
