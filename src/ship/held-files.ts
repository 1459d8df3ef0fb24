import { closeSync, constants, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { TracewrightError } from '../core/errors.js';
import { wrapSystemError } from '../core/files/system-error.js';
import { tryLock } from '../core/native-calls.js';

const PRIVATE_FILE = 0o600;

/**
 * Makes a file that one process has at a time, until it closes it, and the directory of it.
 *
 * @param value of the setting `field`.
 * @throws TracewrightError `ERR_ORDER` with `taken` when another process has it.
 */
export function lockFile(
  path: string,
  field: string,
  value: string,
  taken: string,
  mode?: number,
): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const fd = wrapSystemError(field, value, () => {
    mkdirSync(dirname(path), { recursive: true, ...(mode !== undefined && { mode }) });
    return openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, PRIVATE_FILE);
  });
  if (tryLock(fd)) return fd;
  closeSync(fd);
  throw new TracewrightError('ERR_ORDER', taken, { field, value, limit: 'one process' });
}

/** Brings the names in a directory to the disk. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
