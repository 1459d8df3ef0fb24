import { counted } from '../../core/counted.js';
import type { Report } from './report-shape.js';
import { durationText } from './units.js';

/** Title of the traces. */
export function tracesTitle({ slowestOf }: Report): string {
  return slowestOf === 'delayed' ? 'Slowest traces that these delayed' : 'Slowest traces';
}

/** Why there are no traces. */
export const NOTHING_DELAYED =
  'No trace is shown: no other span was open on these threads meanwhile, as far as it was recorded.';

/** What the report says of incomplete traces; undefined: none is. */
export function incompleteText({ completeness }: Report): string | undefined {
  const { incompleteTraces, missingParents } = completeness;
  if (missingParents === 0) return undefined;
  const traces = counted(incompleteTraces, 'trace is', 'traces are');
  const spans = counted(missingParents, 'span has a parent', 'spans have a parent');
  return `${traces} incomplete: ${spans} that is not in the recording`;
}

/** How much was read, in a line. */
export function summaryText({ completeness, sources, length, outside }: Report): string {
  const { spans, traces } = completeness;
  const records = sources.reduce((sum, { rows }) => sum + rows, 0);
  const what =
    spans === 0
      ? counted(records, 'record')
      : `${counted(spans, 'span')}${traces === 0 ? '' : ` in ${counted(traces, 'trace')}`}`;
  const read = `${what} in ${durationText(length)}, from ${counted(sources.length, 'recording')}`;
  if (outside.count === 0) return read;
  const calls = counted(outside.count, 'call of a library', 'calls of libraries');
  return `${read}; ${calls} outside any span, ${durationText(outside.time)} together`;
}
