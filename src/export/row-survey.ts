import { unlessFaulty, untilFault } from '../core/fault.js';
import type { Progress } from '../core/finding.js';
import type { RowTrack } from '../rows/row-batch.js';
import type { Placement } from '../traces/time-line.js';
import { EXPORTED_ROWS } from './selection.js';
import { RowCursor } from './row-cursor.js';
import type { RowFilter } from './row-cursor.js';

/** The ids of a span, as halves. */
export type SpanNote = (
  track: RowTrack,
  high: number,
  low: number,
  parentHigh: number,
  parentLow: number,
) => void;

/** When the rows of a trace were, in ns of the time line; undefined: there is none. */
export interface RowSurvey {
  start: bigint | undefined;
  end: bigint | undefined;
  /** The earliest start that is not long before the trace's own: one that a program gave may be years away. */
  recordedStart: bigint | undefined;
}

/** How the rows of a trace are looked at. */
interface SurveyOptions {
  note?: SpanNote | undefined;
  /** Which rows count. */
  accepts?: RowFilter;
  /** The moment that the zero of the time line is: see `RowCursor`. */
  zero?: bigint;
  onProgress?: Progress | undefined;
}

/** Nanoseconds before a trace within which a start counts as recorded: 104 days. */
const LONG_BEFORE = Number.MAX_SAFE_INTEGER;

/** The reader of the rows reports them. */
const ignore = (): void => undefined;

/** Looks at the rows of a trace, if nothing else is asked by their columns alone. Faults are passed over. */
export function surveyRows(
  { trace: { format, path }, shift }: Placement,
  { note, accepts, zero = 0n, onProgress }: SurveyOptions,
): RowSurvey {
  const options = { zero: -shift, batchRows: EXPORTED_ROWS, onProgress, onFault: ignore };
  const first = -LONG_BEFORE + Number(shift);
  const survey: RowSurvey = { start: undefined, end: undefined, recordedStart: undefined };
  let [least, recorded, most] = [Infinity, Infinity, -Infinity];
  const read = () => format.rows?.(path, options).batches() ?? [];
  const add = (start: number, end: number, exactStart: bigint, exactEnd: bigint): void => {
    if (start < least) [least, survey.start] = [start, exactStart];
    if (start < recorded && start >= first) [recorded, survey.recordedStart] = [start, exactStart];
    if (end > most) [most, survey.end] = [end, exactEnd];
  };
  for (const batch of untilFault(ignore, path, read)) {
    const { spanId, parentId } = batch.rows;
    const cursor = new RowCursor(batch, zero);
    while (cursor.next()) {
      if (accepts !== undefined && unlessFaulty(() => accepts(cursor)) !== true) continue;
      const { row, start, end } = cursor;
      if (start < recorded || end > most) add(start, end, cursor.exactStart, cursor.exactEnd);
      if (note === undefined || !cursor.isSpan) continue;
      const at = 2 * row;
      note(cursor.track, spanId[at]!, spanId[at + 1]!, parentId[at]!, parentId[at + 1]!);
    }
    cursor.close();
    for (const { times } of batch.counters) {
      if (times.length === 0) continue;
      const [from, to] = [times[0]!, times.at(-1)!];
      add(from, to, BigInt(Math.round(from)), BigInt(Math.round(to)));
    }
  }
  return survey;
}
