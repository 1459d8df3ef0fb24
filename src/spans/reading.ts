import type { ReadSpansOptions } from './read/read-spans.js';
import type { SpanRecord } from './span-record.js';

/**
 * Reads the spans of Heph traces, in memory that does not grow with them.
 *
 *     for await (const span of readSpans('traces')) console.log(span.name, span.end - span.start);
 *
 * @param paths a file, a directory with all traces below it, or several. Name the pieces of a trace that
 *   rotates one by one, or their directory.
 * @throws TraceFormatError when iterating, at what is not as the format or the contract says.
 */
export function readSpans(
  paths: string | readonly string[],
  options: ReadSpansOptions = {},
): AsyncIterableIterator<SpanRecord, undefined> {
  const { readSpansOf } = require('./read/read-spans.js') as typeof import('./read/read-spans.js');
  return readSpansOf(paths, options);
}
