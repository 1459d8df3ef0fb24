import { errorTypeOf } from '../../spans/exception.js';
import type { Span } from '../../spans/span.js';
import type { Failure, LibraryOptions } from '../library.js';
import { DB_STATUS, ERROR_TYPE, OTHER } from './conventions.js';

const ERROR = 2;

/** The code of an error, else its class: `ECONNREFUSED`, `TypeError`. */
export function failureOf(error: unknown): Failure {
  return { type: errorTypeOf(error) ?? OTHER };
}

/** The message of an error, only to look for a known word in it; empty if there is none. */
export function messageOf(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message;
  return typeof message === 'string' ? message : '';
}

/**
 * Says of a span that what it is of has failed.
 *
 * @param time in nanoseconds since 1970; undefined: now.
 */
export function markFailed(
  span: Span,
  { type, status }: Failure,
  error: unknown,
  { errorText }: LibraryOptions,
  time?: bigint,
): void {
  span.set(ERROR_TYPE, type);
  if (status !== undefined) span.set(DB_STATUS, status);
  if (errorText) span.failAt(error, time);
  else span.markStatus(ERROR, '');
}
