import { TracewrightError } from '../core/errors.js';
import { kindOf } from '../core/files/file-kind.js';

/** The error for a file that stands where a trace shall go. */
export function fileExists(field: string, path: string, inUse = false): TracewrightError {
  const reason = inUse
    ? 'is being written: choose another name'
    : kindOf(path)?.isFile() === false
      ? 'is no plain file: choose another name'
      : "exists: choose another name, or replace it with { exists: 'replace' }";
  return new TracewrightError('ERR_TRACE_EXISTS', `${field} ${path} ${reason}`, {
    field,
    value: path,
    limit: 'a file that does not exist',
  });
}
