import { NO_TRACE, UNFINISHED_BIT } from '../index/look-index.js';
import type { IndexPart } from '../index/look-index.js';
import { isoTime } from './iso-time.js';
import { LongestRows } from './longest-rows.js';
import type { OpenSpans } from './report-shape.js';
import { requestPath } from './request-path.js';
import { SPAN } from './selection.js';
import type { RowSelection } from './selection.js';
import type { Steps } from '../index/turns.js';

/** Spans that are listed; the others are counted. */
const MAX_LISTED = 100;

/** Spans that had not ended when their process did, or that a living process has not ended yet. */
export function* openSpans(selection: RowSelection): Steps<OpenSpans> {
  const { index } = selection;
  let count = 0;
  const oldest = new LongestRows<{ part: IndexPart; at: number }>(MAX_LISTED);
  for (const part of index.parts) {
    yield;
    if (part.unfinished === 0) continue;
    const marks = selection.marksOf(part);
    const { flags, duration } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((flags[at]! & UNFINISHED_BIT) === 0 || (marks[at]! & SPAN) === 0) continue;
      count++;
      if (oldest.admits(duration[at]!)) oldest.add(duration[at]!, { part, at });
    }
  }
  const spans = oldest.sorted.map(({ length, value: { part, at } }) => {
    const trace = part.trace[at]!;
    return {
      name: part.names.text(part.name[at]!),
      path: requestPath(index, part.firstRow + at),
      service: part.source.service ?? null,
      thread: index.tracks[part.track[at]!]!.name,
      start: isoTime(index.epoch, part.start[at]! + part.offset),
      age: length,
      traceId: trace === NO_TRACE ? null : part.traceId(trace),
    };
  });
  return { count, spans };
}
