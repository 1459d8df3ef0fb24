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
