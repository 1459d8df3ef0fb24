import { outOfRange } from '../../core/errors.js';
import { nanosecondsIn } from '../../core/settings/amounts.js';
import type { Condition } from '../index/look-index.js';

/** A moment as a person names it. */
type TimePoint =
  /** Nanoseconds since 1970. */
  | { from: 'epoch'; nanoseconds: bigint }
  /** Nanoseconds after the start of the recording. */
  | { from: 'start'; nanoseconds: number }
  /** Nanoseconds before the end of the recording. */
  | { from: 'end'; nanoseconds: number };

/** Bounds of a time range, each absent if it was not named. */
export interface TimeRange {
  since?: TimePoint;
  until?: TimePoint;
}

/** Where a recording lies in time. */
export interface Extent {
  /** Its earliest start, in nanoseconds since 1970. */
  epoch: bigint;
  /** Nanoseconds from there to its last end. */
  length: number;
}

const ISO =
  /^(\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?)(?:[.,](\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?$/;
/** The units of durations in words. */
export const UNITS = 'ns, us, ms, s, m, h or d';
const DURATION_LIMIT = `a number and ${UNITS}, such as 1.5s`;
const TIME_LIMIT =
  'an ISO time (2026-01-31T12:00:00Z), +5m after the start of the recording, or -5m before its end';

/**
 * A duration in nanoseconds: `250ms`.
 *
 * @param field names the option in the error.
 * @throws TracewrightError for another text.
 */
export function parseDuration(field: string, text: string): number {
  const nanoseconds = nanosecondsIn(text);
  if (nanoseconds === undefined) throw outOfRange(field, text, DURATION_LIMIT);
  return nanoseconds;
}

/**
 * A moment: `2026-01-31T12:00:00.5Z` (local time without a zone), `+90s` after the start of the
 * recording, `-5m` before its end.
 *
 * @throws TracewrightError for another text.
 */
export function parseTimePoint(field: string, text: string): TimePoint {
  const sign = text.charAt(0);
  if (sign === '+' || sign === '-') {
    const nanoseconds = nanosecondsIn(text.slice(1));
    if (nanoseconds === undefined) throw outOfRange(field, text, TIME_LIMIT);
    return { from: sign === '+' ? 'start' : 'end', nanoseconds };
  }
  const [, whole, fraction = '', zone = ''] = ISO.exec(text) ?? [];
  // A day without a time is UTC for Date, a time without a zone is local.
  const milliseconds = whole === undefined ? NaN : Date.parse(whole.replace(' ', 'T') + zone);
  if (Number.isNaN(milliseconds)) throw outOfRange(field, text, TIME_LIMIT);
  const nanoseconds = BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  return { from: 'epoch', nanoseconds };
}

function timeOf(point: TimePoint, { epoch, length }: Extent): number {
  if (point.from === 'epoch') return Number(point.nanoseconds - epoch);
  return point.from === 'start' ? point.nanoseconds : length - point.nanoseconds;
}

/** Whether the extent of the recording must be known to apply the range. */
export function isRelative({ since, until }: TimeRange): boolean {
  return [since, until].some((point) => point !== undefined && point.from !== 'epoch');
}

/** The range as bounds of a condition: nanoseconds since the start of the recording. */
export function rangeOf(
  { since, until }: TimeRange,
  extent: Extent,
): Pick<Condition, 'from' | 'to'> {
  return {
    ...(since && { from: timeOf(since, extent) }),
    ...(until && { to: timeOf(until, extent) }),
  };
}
