import { TracewrightError } from '../core/errors.js';

/** Whatever was thrown while a file was read, or spans were sent, as an error that names it. */
export function faultOf(path: string, error: unknown): TracewrightError {
  if (error instanceof TracewrightError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new TracewrightError('ERR_SYSTEM', `${path}: ${message}`, { field: 'path', value: path });
}
