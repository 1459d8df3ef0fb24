import { rowAt, rowsUpward } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { firstAtLeast } from '../../index/parts/first-at-least.js';
import type { RecordedValue, SpanRecord } from '../../../spans/span-record.js';
import { recordedSpan } from '../names/recorded-attributes.js';
import { errorFrame, messageShape } from './error-text.js';
import type { ErrorFrame } from './error-text.js';

export const TYPE = 'error.type';
/** From a failed span up to its request. */
const MOST_ANCESTORS = 32;
/**
 * An error that another type of error replaces is the same if the spans end so close to each other, in ns: in any case,
 * and if nothing of the trace began in between.
 */
const SAME_END = 5e6;
const SAME_REST = 100e6;
/** Rows that are looked at for what began in between. */
const MOST_BETWEEN = 10_000;

/** The error that a failed span has recorded. */
export interface Failure {
  type: string | null;
  message: string | null;
  frame: ErrorFrame | null;
}

/** An error, in the innermost span that failed because of it. */
export interface FailedSpan extends Failure {
  row: number;
  /** Ns of the index. */
  end: number;
  name: string;
  /** The error of which it is a part; undefined: it is one itself. */
  cause: FailedSpan | undefined;
}

/** @param row of a failed span. */
export function failedSpan(index: LookIndex, row: number): FailedSpan {
  const { name, end } = rowAt(index, row);
  const failure = failureOf(recordedSpan(index, row));
  return { ...failure, row, end, name, cause: undefined };
}

/**
 * Makes one of the failed spans of a trace through which one error passed: the innermost span stays. What it did not
 * record of the error, a span above it may have.
 */
export function joinFailures(index: LookIndex, failures: readonly FailedSpan[]): void {
  const byRow = new Map(failures.map((failure) => [failure.row, failure]));
  for (const failure of failures.toSorted((a, b) => a.end - b.end || b.row - a.row)) {
    const above = failedAbove(index, failure.row, byRow);
    if (above === undefined || !isSame(index, failure, above)) continue;
    // The last error below a span is the one that left it.
    above.cause = failure;
  }
  for (const failure of failures) {
    const innermost = [...causesOf(failure)].at(-1);
    if (innermost === undefined) continue;
    innermost.message ??= failure.message;
    innermost.frame ??= failure.frame;
    innermost.type ??= failure.type;
  }
}

/** The failures of which one is a part, the innermost last. */
export function* causesOf({ cause }: FailedSpan): Generator<FailedSpan, void> {
  for (let inner = cause; inner !== undefined; inner = inner.cause) yield inner;
}

function failedAbove(
  index: LookIndex,
  row: number,
  byRow: ReadonlyMap<number, FailedSpan>,
): FailedSpan | undefined {
  for (const above of rowsUpward(index, rowAt(index, row).parent, MOST_ANCESTORS)) {
    const found = byRow.get(above.row);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether the error of a span left the span above it, too: a status alone says nothing else. */
function isSame(index: LookIndex, inner: FailedSpan, outer: FailedSpan): boolean {
  const isBare = ({ message, frame }: Failure): boolean => message === null && frame === null;
  if (isBare(outer)) return true;
  if (inner.type === outer.type && inner.message === outer.message) return true;
  // Of a library's error the call has the code, and the span above it the text.
  const between = outer.end - inner.end;
  if (!isBare(inner) || between < 0 || between > SAME_REST) return false;
  return between <= SAME_END || !hasBegunBetween(index, inner, outer);
}

/** Whether anything of a span's trace began between its end and that of another one. */
function hasBegunBetween(index: LookIndex, { row, end }: FailedSpan, outer: FailedSpan): boolean {
  const { part, at: own } = rowAt(index, row);
  const { start, trace, offset, count } = part;
  const first = firstAtLeast(start, end - offset);
  for (let at = first; at < count && start[at]! + offset < outer.end; at++) {
    if (trace[at] === trace[own] || at - first >= MOST_BETWEEN) return true;
  }
  return false;
}

/** The request in which an error occurred: the next one above it. */
export function requestAbove(index: LookIndex, row: number): IndexRow | undefined {
  for (const above of rowsUpward(index, row, MOST_ANCESTORS)) if (above.isRequest) return above;
  return undefined;
}

function failureOf(span: SpanRecord | undefined): Failure {
  const attribute = span?.attributes[TYPE];
  const exception = span?.events.findLast(({ name }) => name === 'exception')?.attributes ?? {};
  const type = attribute ?? exception['exception.type'] ?? null;
  const message = textOf(exception['exception.message']) ?? span?.status.message ?? '';
  return {
    type: type === null ? null : String(type),
    message: messageShape(message),
    frame: errorFrame(textOf(exception['exception.stacktrace']) ?? ''),
  };
}

function textOf(value: RecordedValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
