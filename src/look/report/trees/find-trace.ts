import type { LookIndex } from '../../index/look-index.js';

/** Traces of one prefix that are named. */
const MOST_FOUND = 5;
/** The id of a `traceparent`, which logs may have whole. */
const TRACE_PARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

/** The digits of a trace's id in a text from a log; undefined: it has none. */
export function traceDigits(text: string): string | undefined {
  const lower = text.trim().toLowerCase();
  const id = TRACE_PARENT.exec(lower)?.[1] ?? lower.replaceAll('-', '');
  return /^[\da-f]{1,32}$/.test(id) ? id : undefined;
}

/** Ids of the traces that begin with some digits: at most five of them. */
export function tracesThatBegin({ parts }: LookIndex, digits: string): string[] {
  const found = new Set<string>();
  const [least, most] = [digits.padEnd(8, '0'), digits.padEnd(8, 'f')].map((text) =>
    Number.parseInt(text.slice(0, 8), 16),
  ) as [number, number];
  for (const part of parts) {
    const { traceCount, traceIds } = part;
    for (let trace = 0; trace < traceCount && found.size < MOST_FOUND; trace++) {
      const first = traceIds[4 * trace]!;
      if (first < least || first > most) continue;
      const id = part.traceId(trace);
      if (id.startsWith(digits)) found.add(id);
    }
  }
  return [...found];
}
