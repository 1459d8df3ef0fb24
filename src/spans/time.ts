import { outOfRange, wrongType } from '../core/errors.js';

/** Milliseconds since 1970 (fractions allowed), a Date, or a bigint of nanoseconds since 1970. */
export type Instant = number | Date | bigint;

const LIMIT = 'milliseconds since 1970, a Date, or a bigint of nanoseconds since 1970';
const PER_MS = 1_000_000n;
/** Some 285 years from 1970: nanoseconds fit 64 bits, with a sign. */
const MOST_MS = 9_000_000_000_000;
const MOST_NS = BigInt(MOST_MS) * PER_MS;

/**
 * Nanoseconds from `now`, nanoseconds since 1970, to a time that a caller has given.
 *
 * @throws TracewrightError that names the field and what it can be.
 */
export function nanosecondsFrom(now: bigint, field: string, time: unknown): number {
  if (typeof time === 'bigint') {
    if (time < -MOST_NS || time > MOST_NS) throw outOfRange(field, time, LIMIT);
    return Number(time - now);
  }
  const ms = time instanceof Date ? time.getTime() : time;
  if (typeof ms !== 'number') throw wrongType(field, time, LIMIT);
  if (!(Math.abs(ms) <= MOST_MS)) throw outOfRange(field, time, LIMIT);
  // Two steps, for a double cannot hold nanoseconds since 1970.
  const whole = now / PER_MS;
  return (ms - Number(whole)) * 1e6 - Number(now - whole * PER_MS);
}
