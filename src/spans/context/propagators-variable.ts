/** Which headers of W3C carry what is active to other processes. */
export interface PropagatedHeaders {
  /** `traceparent` and `tracestate`. */
  readonly trace: boolean;
  readonly baggage: boolean;
}

const TRACE = 'tracecontext';
const BAGGAGE = 'baggage';
const NONE = 'none';

function namesIn(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

/** The names in `OTEL_PROPAGATORS` that Tracewright does not know. */
export function unknownPropagators(text: string): string[] {
  return namesIn(text).filter((name) => ![TRACE, BAGGAGE, NONE].includes(name));
}

/** `OTEL_PROPAGATORS`. By default, and where it has no known name, both are sent and read. */
export function readPropagators(text: string): PropagatedHeaders {
  const names = namesIn(text);
  if (names.includes(NONE)) return { trace: false, baggage: false };
  const trace = names.includes(TRACE);
  const baggage = names.includes(BAGGAGE);
  return trace || baggage ? { trace, baggage } : { trace: true, baggage: true };
}

/** Of this process. */
export const propagated = readPropagators(process.env['OTEL_PROPAGATORS'] ?? '');
