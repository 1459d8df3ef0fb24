import type { LookIndex } from '../index/look-index.js';
import type { Steps } from '../index/turns.js';
import type { CalledThreads } from './called-threads.js';
import { spansAround } from './delayed-spans.js';
import type { InterruptionTally } from './interruptions.js';
import { isoTime } from './iso-time.js';
import { attributesOf } from './recorded-attributes.js';
import type { LongStall } from './report-shape.js';
import type { RowSelection } from './selection.js';

/** The longest stalls of the window: why the loop did not turn, what ran on it, and what waited. */
export function* longStalls(
  selection: RowSelection,
  interruptions: InterruptionTally,
  called: CalledThreads,
): Steps<LongStall[]> {
  const { index } = selection;
  const rows = interruptions.longestStalls;
  const around = yield* spansAround(
    selection,
    interruptions,
    called,
    rows.map(({ part, at }) => {
      const start = part.start[at]! + part.offset;
      return { track: part.track[at]!, start, end: start + part.duration[at]! };
    }),
  );
  return rows.map(({ part, at, atStart }, place): LongStall => {
    const { interval, ran, delayed } = around[place]!;
    const row = part.firstRow + at;
    return {
      ...interruptions.threadOf(interval.track),
      start: isoTime(index.epoch, interval.start),
      duration: interval.end - interval.start,
      cause: causeOf(index, row),
      atStart,
      ran,
      delayed,
    };
  });
}

/** As `eventloop.cause` says it; of a mark of ovni, its label. */
function causeOf(index: LookIndex, row: number): string | null {
  const part = index.partOf(row);
  const at = row - part.firstRow;
  if (index.tracks[part.track[at]!]!.kind === 'mark') return part.names.text(part.name[at]!);
  const cause = attributesOf(index, row)('eventloop.cause');
  return typeof cause === 'string' ? cause : null;
}
