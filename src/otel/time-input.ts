import { unixNow } from '../core/clock.js';
import { LEAST_MS, LEAST_NS, MOST_MS, MOST_NS } from '../spans/time.js';
import type { Instant } from '../spans/time.js';
import { countWrongArgument } from './wrong-arguments.js';

const PER_SECOND = 1_000_000_000n;
/** How often two clocks are compared, unless the readings take less than so many milliseconds. */
const CLOCK_TRIES = 4;
const TIGHT_MS = 0.02;

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
  if (typeof time === 'bigint') return time < LEAST_NS || time > MOST_NS ? undefined : time;
  if (time instanceof Date) {
    const ms = time.getTime();
    return isInstant(ms) ? ms : undefined;
  }
  if (!Array.isArray(time) || time.length !== 2) return undefined;
  const [seconds, nanoseconds] = time as [unknown, unknown];
  if (typeof seconds !== 'number' || typeof nanoseconds !== 'number') return undefined;
  if (!isInstant(seconds * 1000) || !(Math.abs(nanoseconds) <= 1e9)) return undefined;
  // Seconds may have a fraction.
  const whole = Math.trunc(seconds);
  const rest = Math.round((seconds - whole) * 1e9 + nanoseconds);
  return readInstant(BigInt(whole) * PER_SECOND + BigInt(rest));
}

function isInstant(ms: number): boolean {
  return ms >= LEAST_MS && ms <= MOST_MS;
}

/** As OpenTelemetry's SDK has it: no program records spans of the first days of 1970. */
function ofNumber(time: number): Instant | undefined {
  if (!isInstant(time)) return undefined;
  if (time < 0) return time;
  if (time > performance.now()) return time;
  let best = { width: Infinity, unix: 0n, now: 0 };
  // The thread may lose its CPU between two readings.
  for (let i = 0; i < CLOCK_TRIES && best.width > TIGHT_MS; i++) {
    const before = performance.now();
    const unix = unixNow();
    const width = performance.now() - before;
    if (width < best.width) best = { width, unix, now: before + width / 2 };
  }
  return best.unix - BigInt(Math.round((best.now - time) * 1e6));
}
