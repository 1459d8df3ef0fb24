import { getSystemErrorName } from 'node:util';
import { TracewrightError } from '../errors.js';

/** Runs a call into the operating system or the native core and converts its error to ours. */
export function wrapSystemError<T>(field: string, value: unknown, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw systemError(field, value, error);
  }
}

/** An error of the operating system or the native core as ours; one that is ours stays as it is. */
export function systemError(field: string, value: unknown, cause: unknown): TracewrightError {
  if (cause instanceof TracewrightError) return cause;
  const { errno, message } = cause as { errno?: number; message?: string };
  const name = errno === undefined ? '' : `${getSystemErrorName(-Math.abs(errno))}: `;
  const text = message ?? String(cause);
  return new TracewrightError('ERR_SYSTEM', text.startsWith(name) ? text : name + text, {
    field,
    value,
    cause,
  });
}

/** Whether an error of node:fs or the native core, or one that wraps it, has this code (`'EEXIST'`). */
export function hasCode(error: unknown, code: string): boolean {
  const { code: own, errno, cause } = error as { code?: unknown; errno?: unknown; cause?: unknown };
  if (own === code || (cause !== undefined && hasCode(cause, code))) return true;
  // Those of the native core have a number alone.
  if (own !== undefined || typeof errno !== 'number' || errno === 0) return false;
  return getSystemErrorName(-Math.abs(errno)) === code;
}
