/** Headers of W3C that carry a trace and baggage from one process to the next. */

export const TRACE_PARENT = 'traceparent';
export const TRACE_STATE = 'tracestate';
export const BAGGAGE = 'baggage';
export const CARRIED_HEADERS: readonly string[] = [TRACE_PARENT, TRACE_STATE, BAGGAGE];

/** Headers of one name that are read. */
export const MAX_HEADERS = 64;
