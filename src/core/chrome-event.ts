/**
 * One entry of the `traceEvents` array that chrome://tracing and Perfetto open (Trace Event
 * Format). Times are microseconds; a fraction carries the nanoseconds.
 */
export interface ChromeEvent {
  name: string;
  /** Phase: complete, begin, end, async begin and end, counter, metadata, instant. */
  ph: 'X' | 'B' | 'E' | 'b' | 'e' | 'C' | 'M' | 'i';
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
