import { outOfRange, wrongType } from '../core/errors.js';

/** Milliseconds since 1970 (fractions allowed), a Date, or a bigint of nanoseconds since 1970. */
export type Instant = number | Date | bigint;

/** Nanoseconds since the trace's epoch: a bigint where a double has not all of its digits. */
export type TraceTime = number | bigint;

const LIMIT =
  'milliseconds since 1970 from the year 1780 to 2255, a Date, or a bigint of nanoseconds since 1970';
const PER_MS = 1_000_000n;
/** Nanoseconds since the trace's epoch fit 64 bits, with a sign. */
export const LEAST_MS = -6_000_000_000_000;
export const MOST_MS = 9_000_000_000_000;
export const LEAST_NS = BigInt(LEAST_MS) * PER_MS;
export const MOST_NS = BigInt(MOST_MS) * PER_MS;

/**
 * Nanoseconds from `now`, nanoseconds since 1970, to a time that a caller has given. Those of a time 104 days away or
 * more are a bigint.
 *
 * @throws TracewrightError that names the field and what it can be.
 */
export function nanosecondsFrom(now: bigint, field: string, time: unknown): TraceTime {
  if (typeof time === 'bigint') {
    if (time < LEAST_NS || time > MOST_NS) throw outOfRange(field, time, LIMIT);
    return exact(time - now);
  }
  const ms = time instanceof Date ? time.getTime() : time;
  if (typeof ms !== 'number') throw wrongType(field, time, LIMIT);
  if (!(ms >= LEAST_MS && ms <= MOST_MS)) throw outOfRange(field, time, LIMIT);
  // Two steps, for a double cannot hold nanoseconds since 1970.
  const whole = now / PER_MS;
  const near = (ms - Number(whole)) * 1e6 - Number(now - whole * PER_MS);
  if (Math.abs(near) <= Number.MAX_SAFE_INTEGER) return near;
  const given = Math.trunc(ms);
  return exact(BigInt(given) * PER_MS + BigInt(Math.round((ms - given) * 1e6)) - now);
}

function exact(time: bigint): TraceTime {
  const near = Number(time);
  return Number.isSafeInteger(near) ? near : time;
}

/** From one time to another. */
export function timeBetween(from: TraceTime, to: TraceTime): TraceTime {
  if (typeof from === 'number' && typeof to === 'number') return to - from;
  return wholeOf(to) - wholeOf(from);
}

const wholeOf = (time: TraceTime): bigint =>
  typeof time === 'bigint' ? time : BigInt(Math.round(time));
