/**
 * Where contexts of the OpenTelemetry API keep what it knows of. All copies and versions of the API share the keys,
 * for they are registered symbols.
 */
export const SPAN_KEY = Symbol.for('OpenTelemetry Context Key SPAN');
export const BAGGAGE_KEY = Symbol.for('OpenTelemetry Baggage Key');
/** `@opentelemetry/core` sets it to true around what must not be traced. */
export const SUPPRESS_TRACING_KEY = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');
/** The property of the global object where version 1 of the API keeps its globals. */
export const API_GLOBALS_KEY = Symbol.for('opentelemetry.js.api.1');
