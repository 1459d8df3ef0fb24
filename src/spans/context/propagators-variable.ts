import { itemsOf } from '../../core/settings/kinds.js';
import type { HeaderFormat } from './header-format.js';

/** Which headers carry what is active to other processes. */
interface PropagatedHeaders {
  /** W3C's `traceparent` and `tracestate`. */
  readonly trace: boolean;
  readonly baggage: boolean;
  /** Others that carry a trace. */
  readonly formats: readonly HeaderFormat[];
}

const TRACE = 'tracecontext';
const BAGGAGE = 'baggage';
const NONE = 'none';
/** Those of other-formats.ts. */
const OTHERS: readonly string[] = ['b3', 'b3multi', 'jaeger', 'xray'];

/** The names in `OTEL_PROPAGATORS` that Tracewright does not know. */
export function unknownPropagators(text: string): string[] {
  return itemsOf(text.toLowerCase()).filter(
    (name) => ![TRACE, BAGGAGE, NONE, ...OTHERS].includes(name),
  );
}

/** All but W3C's, also those that are not wanted. */
export function allFormats(): readonly HeaderFormat[] {
  return formatsOf(OTHERS);
}

function formatsOf(names: readonly string[]): HeaderFormat[] {
  if (names.length === 0) return [];
  const { formatOf } = require('./other-formats.js') as typeof import('./other-formats.js');
  return names.map(formatOf);
}

/** `OTEL_PROPAGATORS`. By default, and where it has no known name, W3C's headers are sent and read. */
export function readPropagators(text: string): PropagatedHeaders {
  const names = itemsOf(text.toLowerCase());
  if (names.includes(NONE)) return { trace: false, baggage: false, formats: [] };
  const trace = names.includes(TRACE);
  const baggage = names.includes(BAGGAGE);
  const others = OTHERS.filter((name) => names.includes(name));
  const isNone = !trace && !baggage && others.length === 0;
  let formats: HeaderFormat[] | undefined;
  return {
    trace: trace || isNone,
    baggage: baggage || isNone,
    get formats() {
      return (formats ??= formatsOf(others));
    },
  };
}

/** Of this process. */
export const propagated = readPropagators(process.env['OTEL_PROPAGATORS'] ?? '');
