import { unixNow } from '../core/clock.js';
import type { Instant } from '../spans/time.js';
import { countWrongArgument } from './wrong-arguments.js';

const PER_SECOND = 1_000_000_000n;
/** What a span can have: see `nanosecondsFrom`. */
const MOST_MS = 9e12;
const MOST_SECONDS = MOST_MS / 1000;
const MOST_NS = BigInt(MOST_MS) * 1_000_000n;

/** Whether a value has the form of a time, as opposed to attributes. */
export function isTimeInput(value: unknown): boolean {
  if (typeof value === 'number' || typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null) return false;
  try {
    if (value instanceof Date) return true;
    if (!Array.isArray(value) || value.length !== 2) return false;
    return typeof value[0] === 'number' && typeof value[1] === 'number';
  } catch {
    return false;
  }
}

/**
 * A time that a program has given to the API: milliseconds since 1970, what `performance.now` returned, a Date, a pair
 * of seconds and nanoseconds since 1970, or nanoseconds since 1970 as a bigint. One that is no time counts as wrong.
 *
 * @returns undefined: now.
 */
export function instantOf(time: unknown): Instant | undefined {
  if (time === undefined || time === null) return undefined;
  try {
    const instant = readInstant(time);
    if (instant !== undefined) return instant;
  } catch {
    // A proxy, or a Date whose methods throw.
  }
  countWrongArgument();
  return undefined;
}

function readInstant(time: unknown): Instant | undefined {
  if (typeof time === 'number') return ofNumber(time);
  if (typeof time === 'bigint') return time < -MOST_NS || time > MOST_NS ? undefined : time;
  if (time instanceof Date) {
    const ms = time.getTime();
    return Math.abs(ms) <= MOST_MS ? ms : undefined;
  }
  if (!Array.isArray(time) || time.length !== 2) return undefined;
  const [seconds, nanoseconds] = time as [unknown, unknown];
  if (typeof seconds !== 'number' || typeof nanoseconds !== 'number') return undefined;
  if (!(Math.abs(seconds) < MOST_SECONDS - 1 && Math.abs(nanoseconds) <= 1e9)) return undefined;
  // Seconds may have a fraction.
  const whole = Math.trunc(seconds);
  const rest = Math.round((seconds - whole) * 1e9 + nanoseconds);
  return BigInt(whole) * PER_SECOND + BigInt(rest);
}

/** As OpenTelemetry's SDK has it: no program records spans of the first days of 1970. */
function ofNumber(time: number): Instant | undefined {
  if (!(Math.abs(time) <= MOST_MS)) return undefined;
  if (time < 0) return time;
  const now = performance.now();
  if (time > now) return time;
  return unixNow() - BigInt(Math.round((now - time) * 1e6));
}
