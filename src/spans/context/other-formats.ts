import type { Span } from '../span.js';
import type { Extracted, HeaderFormat } from './header-format.js';
import { parseTraceParent } from './trace-context.js';
import { NOT_SAMPLED } from './trace-state-entries.js';

/** Whether the caller records the trace; undefined: it leaves that to others. */
type Decision = boolean | undefined;

const SAMPLED = 1;

function isSampled(span: Span): boolean {
  return (span.flags & SAMPLED) !== 0;
}

/** @param trace up to 32 digits: older ids have half of them, and some senders leave out zeros. */
function extracted(trace: string, span: string, decision: Decision): Extracted | undefined {
  const ids = `${trace.padStart(32, '0')}-${span.padStart(16, '0')}`.toLowerCase();
  const parent = parseTraceParent(`00-${ids}-0${decision === true ? 1 : 0}`);
  if (parent === undefined) return undefined;
  // These formats say of a trace that it is not to be recorded only if that is decided.
  return { parent, traceState: decision === false ? NOT_SAMPLED : '' };
}

const B3 = 'b3';
const B3_TRACE = 'x-b3-traceid';
const B3_SPAN = 'x-b3-spanid';
const B3_SAMPLED = 'x-b3-sampled';
const B3_FLAGS = 'x-b3-flags';
const B3_PARENT = 'x-b3-parentspanid';
const B3_SINGLE = /^([\da-f]{32}|[\da-f]{16})-([\da-f]{16})(?:-([01d])(?:-[\da-f]{16})?)?$/i;
const B3_TRACE_ID = /^(?:[\da-f]{16}|[\da-f]{32})$/i;
const B3_SPAN_ID = /^[\da-f]{16}$/i;

function b3Decision(text: string | undefined): Decision {
  const value = text?.toLowerCase();
  if (value === undefined || value === '') return undefined;
  return value === '1' || value === 'd' || value === 'true';
}

function extractB3(get: (name: string) => string | undefined): Extracted | undefined {
  const [found, trace, span, sampled] = B3_SINGLE.exec(get(B3)?.trim() ?? '') ?? [];
  if (found !== undefined) return extracted(trace!, span!, b3Decision(sampled));
  const ids = [get(B3_TRACE)?.trim() ?? '', get(B3_SPAN)?.trim() ?? ''] as const;
  if (!B3_TRACE_ID.test(ids[0]) || !B3_SPAN_ID.test(ids[1])) return undefined;
  const decision = get(B3_FLAGS)?.trim() === '1' ? true : b3Decision(get(B3_SAMPLED)?.trim());
  return extracted(...ids, decision);
}

const b3: HeaderFormat = {
  fields: [B3, B3_TRACE, B3_SPAN, B3_SAMPLED, B3_FLAGS, B3_PARENT],
  inject(span, put) {
    const { trace_id: trace, span_id: id } = span.ids;
    put(B3, `${trace}-${id}-${isSampled(span) ? 1 : 0}`);
  },
  extract: extractB3,
};

const b3multi: HeaderFormat = {
  // The first of them is what its senders have.
  fields: [B3_TRACE, B3, B3_SPAN, B3_SAMPLED, B3_FLAGS, B3_PARENT],
  inject(span, put) {
    const { trace_id: trace, span_id: id } = span.ids;
    put(B3_TRACE, trace);
    put(B3_SPAN, id);
    put(B3_SAMPLED, isSampled(span) ? '1' : '0');
  },
  extract: extractB3,
};

const JAEGER = 'uber-trace-id';
const JAEGER_VALUE = /^([\da-f]{1,32}):([\da-f]{1,16}):[\da-f]{0,16}:([\da-f]{1,2})$/i;

const jaeger: HeaderFormat = {
  fields: [JAEGER],
  inject(span, put) {
    const { trace_id: trace, span_id: id } = span.ids;
    put(JAEGER, `${trace}:${id}:0:0${isSampled(span) ? 1 : 0}`);
  },
  extract(get) {
    // Some senders encode it as a part of a URL.
    const text = get(JAEGER)?.trim().replace(/%3a/gi, ':') ?? '';
    const [found, trace, span, flags] = JAEGER_VALUE.exec(text) ?? [];
    if (found === undefined) return undefined;
    return extracted(trace!, span!, (Number.parseInt(flags!, 16) & SAMPLED) !== 0);
  },
};

const XRAY = 'x-amzn-trace-id';

const xray: HeaderFormat = {
  fields: [XRAY],
  inject(span, put) {
    const { trace_id: trace, span_id: id } = span.ids;
    const root = `1-${trace.slice(0, 8)}-${trace.slice(8)}`;
    put(XRAY, `Root=${root};Parent=${id};Sampled=${isSampled(span) ? 1 : 0}`);
  },
  extract(get) {
    const text = get(XRAY) ?? '';
    const [, time, rest] =
      /(?:^|;)\s*Root=1-([\da-f]{8})-([\da-f]{24})\s*(?:;|$)/i.exec(text) ?? [];
    const [, span] = /(?:^|;)\s*Parent=([\da-f]{16})\s*(?:;|$)/i.exec(text) ?? [];
    const [, sampled] = /(?:^|;)\s*Sampled=([01])\s*(?:;|$)/i.exec(text) ?? [];
    if (time === undefined || rest === undefined || span === undefined) return undefined;
    return extracted(time + rest, span, b3Decision(sampled));
  },
};

const FORMATS: Readonly<Record<string, HeaderFormat>> = { b3, b3multi, jaeger, xray };

/** The format of a name that `OTEL_PROPAGATORS` may have. */
export function formatOf(name: string): HeaderFormat {
  return FORMATS[name]!;
}
