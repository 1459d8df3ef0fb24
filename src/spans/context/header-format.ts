import { shared } from '../../core/process-state.js';
import type { Span } from '../span.js';
import type { Baggage } from './baggage.js';
import type { TraceParent } from './trace-context.js';

/** Headers of W3C that carry a trace and baggage from one process to the next. */

export const TRACE_PARENT = 'traceparent';
export const TRACE_STATE = 'tracestate';
export const BAGGAGE = 'baggage';
export const CARRIED_HEADERS: readonly string[] = [TRACE_PARENT, TRACE_STATE, BAGGAGE];

/** Headers of one name that are read. */
export const MAX_HEADERS = 64;

/** Parent and baggage that the headers of a request name. */
export interface Extracted {
  parent: TraceParent | undefined;
  traceState: string;
  baggage?: Baggage | undefined;
}

/** Headers that carry a trace in place of W3C's, or next to them. */
export interface HeaderFormat {
  /** Their names in lower case. */
  readonly fields: readonly string[];
  inject(span: Span, put: (name: string, value: string) => void): void;
  /** Undefined: they say nothing that is valid. */
  extract(get: (name: string) => string | undefined, names: () => string[]): Extracted | undefined;
}

/** The propagator that the program has registered with the OpenTelemetry API: all headers are its own then. */
export const programFormat = shared(
  'spans.propagator',
  (): { format?: HeaderFormat | undefined } => ({}),
);
