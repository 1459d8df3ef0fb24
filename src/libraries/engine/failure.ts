import { OTHER } from './conventions.js';
import type { Failure } from '../library.js';

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

/** The message of an error for one who looks only for a known word in it; empty if there is none. */
export function messageOf(error: unknown): string {
  const message = (error as { message?: unknown } | null)?.message;
  return typeof message === 'string' ? message : '';
}
