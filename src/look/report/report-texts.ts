import { counted } from '../../core/readable-text.js';
import type { SourceState } from '../index/look-index.js';
import type { Report } from './report-shape.js';
import { bytesText, durationText } from './units.js';

/** Title of the traces. */
export function tracesTitle({ slowestOf }: Report): string {
  return slowestOf === 'delayed' ? 'Slowest traces that these delayed' : 'Slowest traces';
}

/** Why there are no traces. */
export const NOTHING_DELAYED =
  'No trace is shown: no other span was open on these threads meanwhile, as far as it was recorded.';

/** What the report says of incomplete traces; undefined: none is. */
export function incompleteText({ completeness }: Report): string | undefined {
  const { incompleteTraces, missingParents, begunBefore } = completeness;
  const missing = counted(missingParents, 'span has a parent', 'spans have a parent');
  const begun = counted(begunBefore, 'span', 'spans');
  const reasons = [
    ...(missingParents > 0 ? [`${missing} that is not in the recording`] : []),
    ...(begunBefore > 0 ? [`${begun} began before what is left of the recording`] : []),
  ];
  if (reasons.length === 0) return undefined;
  const traces = counted(incompleteTraces, 'trace is', 'traces are');
  return `${traces} incomplete: ${reasons.join(', ')}`;
}

/** What the traces take on disk, in a line. */
export function costText({ cost: { bytes, perRequest, perDay } }: Report): string {
  const texts = [
    `${bytesText(bytes)} on disk`,
    ...(perRequest === null ? [] : [`${bytesText(perRequest)} a request`]),
    ...(perDay === null ? [] : [`${bytesText(perDay)} a day at this rate`]),
  ];
  return texts.join(', ');
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

/** How the process of a recording has ended. docs/report.md explains the words. */
export const STATE_TEXTS: Readonly<Record<SourceState, string>> = {
  ended: 'ended',
  growing: 'running',
  died: 'was killed',
  unfinished: 'ended with open spans',
};

/** Empty if there is nothing special, so that a column of it can be left out. */
export function unusualStateText(state: SourceState): string {
  return state === 'ended' ? '' : STATE_TEXTS[state];
}
