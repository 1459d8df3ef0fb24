import { unlinkSync } from 'node:fs';
import { TracewrightError } from '../errors.js';
import { kindOf } from './file-kind.js';
import { wrapSystemError } from './system-error.js';

/** The advice where an option `exists` can replace the file. */
export const REPLACE_ADVICE = "choose another name, or replace it with { exists: 'replace' }";

interface PathTaken {
  /** Whether a live process writes or recovers the file that is there. */
  inUse?: boolean;
  /** Advice to the caller about a file that merely exists. */
  advice?: string;
  cause?: unknown;
}

/** The error for a new file whose path is taken: by a file, or by something else. */
export function pathTaken(
  field: string,
  path: string,
  { inUse = false, advice = 'choose another name', cause }: PathTaken = {},
): TracewrightError {
  const reason = inUse
    ? 'is being written by a live process: choose another name'
    : advice === REPLACE_ADVICE && kindOf(path)?.isFile() === false
      ? 'is not a regular file: choose another name'
      : `exists: ${advice}`;
  return new TracewrightError('ERR_TRACE_EXISTS', `${field} ${path} ${reason}`, {
    field,
    value: path,
    limit: 'a path where nothing exists',
    cause,
  });
}

/**
 * Makes way for a new file at a path, which the caller then creates exclusively. A regular file is deleted, not
 * truncated: its other names (hard links) keep what they have. Nothing is written through a link.
 *
 * @throws TracewrightError `ERR_TRACE_EXISTS` for a symbolic link, a directory, a pipe or a device.
 */
export function removeReplaced(field: string, path: string): void {
  const kind = wrapSystemError(field, path, () => kindOf(path));
  if (kind === undefined) return;
  if (!kind.isFile()) {
    const what = kind.isSymbolicLink() ? 'a symbolic link' : 'not a regular file';
    throw new TracewrightError(
      'ERR_TRACE_EXISTS',
      `${path} is ${what}, which is not replaced: choose another name`,
      { field, value: path, limit: 'a path with a regular file or nothing' },
    );
  }
  wrapSystemError(field, path, () => {
    unlinkSync(path);
  });
}
