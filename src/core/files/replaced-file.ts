import { unlinkSync } from 'node:fs';
import { TracewrightError } from '../errors.js';
import { kindOf } from './file-kind.js';
import { wrapSystemError } from './system-error.js';

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
