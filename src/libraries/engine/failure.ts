import { errorTypeOf, frameAttributes, isOfProgram } from '../../spans/exception.js';
import type { SpanKind } from '../../spans/layout.js';
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

/** Errors whose stacks are recorded: with the innermost span that they went through. */
const recorded = new WeakSet<object>();

/** The kinds of spans of the program's own code, which throws. Others are of what it calls. */
const OF_PROGRAM: ReadonlySet<SpanKind> = new Set(['internal', 'consumer', 'server']);

/**
 * Says of a span that what it is of has failed. Of the program's own code it also says where the error was made.
 *
 * @param time in nanoseconds since 1970; undefined: now.
 */
export function markFailed(
  span: Span,
  kind: SpanKind,
  { type, status }: Failure,
  error: unknown,
  { errorText }: LibraryOptions,
  time?: bigint,
): void {
  span.set(ERROR_TYPE, type);
  if (status !== undefined) span.set(DB_STATUS, status);
  const isThrown = OF_PROGRAM.has(kind) && typeof error === 'object' && error !== null;
  if (errorText === true || (errorText === 'own' && isThrown && isOfProgram(error))) {
    span.failAt(error, time);
    return;
  }
  span.markStatus(ERROR, '');
  if (!isThrown || recorded.has(error)) return;
  recorded.add(error);
  span.event('exception', frameAttributes(error), time);
}
