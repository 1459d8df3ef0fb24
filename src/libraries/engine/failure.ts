import type { Span } from '../../spans/span.js';
import type { Failure, LibraryOptions } from '../library.js';
import { DB_STATUS, ERROR_TYPE, OTHER } from './conventions.js';

const ERROR = 2;

/** Codes and classes of errors. A text of another form may be a message, which may quote values. */
const CODE = /^[A-Za-z_][\w.:-]{0,63}$/;

function textOf(error: object, name: string): string | undefined {
  const value = (error as Record<string, unknown>)[name];
  return typeof value === 'string' && CODE.test(value) ? value : undefined;
}

/** The code of an error, else its class: `ECONNREFUSED`, `TypeError`. */
export function failureOf(error: unknown): Failure {
  if (typeof error !== 'object' || error === null) return { type: OTHER };
  return { type: textOf(error, 'code') ?? textOf(error, 'name') ?? OTHER };
}

/** The message of an error, only to look for a known word in it; empty if there is none. */
export function messageOf(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message;
  return typeof message === 'string' ? message : '';
}

/** Says of a span that what it is of has failed. */
export function markFailed(
  span: Span,
  { type, status }: Failure,
  error: unknown,
  { errorText }: LibraryOptions,
): void {
  span.set(ERROR_TYPE, type);
  if (status !== undefined) span.set(DB_STATUS, status);
  if (errorText) span.fail(error);
  else span.markStatus(ERROR, '');
}
