/**
 * One entry of the `traceEvents` array that chrome://tracing and Perfetto open (Trace Event
 * Format). Times are microseconds; a fraction carries the nanoseconds.
 */
export interface ChromeEvent {
  name: string;
  /** Phase: complete, counter, metadata, instant. */
  ph: 'X' | 'C' | 'M' | 'i';
  ts: number;
  dur?: number;
  pid: number;
  tid: number;
  cat?: string;
  id?: string;
  s?: 't' | 'p' | 'g';
  args?: Record<string, unknown>;
}

const NANOSECONDS_PER_MICROSECOND = 1000n;

/** Nanoseconds as the microseconds of a {@link ChromeEvent}, also where they exceed 2^53. */
export function microseconds(nanoseconds: bigint): number {
  const nearest = Number(nanoseconds);
  if (Number.isSafeInteger(nearest)) return nearest / 1000;
  const whole = nanoseconds / NANOSECONDS_PER_MICROSECOND;
  return Number(whole) + Number(nanoseconds % NANOSECONDS_PER_MICROSECOND) / 1000;
}

const NANOSECONDS = 1000;
const doubles = new Float64Array(1);
const bits = new BigInt64Array(doubles.buffer);

/** The next larger double of a positive one. */
function nextUp(value: number): number {
  doubles[0] = value;
  bits[0] = bits[0]! + 1n;
  return doubles[0];
}

/**
 * Whole nanoseconds as the microseconds from which a viewer gets the same nanoseconds, also if it
 * multiplies by 1000 and cuts off the rest, as Perfetto does. So slices that lie within each other, or
 * one after another, do so there, too.
 */
export function exactMicroseconds(nanoseconds: number): number {
  const nearest = nanoseconds / NANOSECONDS;
  return nearest > 0 && Math.trunc(nearest * NANOSECONDS) < nanoseconds ? nextUp(nearest) : nearest;
}
