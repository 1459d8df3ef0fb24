import { TracewrightError } from '../core/errors.js';
import type { OnFault } from '../core/fault.js';
import type { Progress } from '../core/finding.js';
import { rowCondition, type RowTest, spanCondition } from '../look/condition/span-condition.js';
import { type Extent, isRelative, rangeOf, type TimeRange } from '../look/condition/time-point.js';
import type { Condition } from '../look/index/look-index.js';
import type { SpanRecord } from '../spans/span-record.js';
import type { FoundTrace } from '../traces/find-traces.js';

/** The part of a recording that is exported. */
export interface Selection {
  range: TimeRange;
  condition: Condition;
  /** The traces whose ids begin with one of these: lower-case hexadecimal digits. Absent: all. */
  traces?: readonly string[];
}

/** Everything. */
export const ALL: Selection = { range: {}, condition: {} };

/** Whether the selection leaves nothing out. */
export function isAll({ range, condition, traces }: Selection): boolean {
  return (
    traces === undefined && Object.keys(range).length === 0 && Object.keys(condition).length === 0
  );
}

/** Whether the extent of the recording must be known first. */
export function needsExtent({ range }: Selection): boolean {
  return isRelative(range);
}

/** @throws TracewrightError for a condition that needs all spans at once. */
export function checkExportable({ condition }: Selection): void {
  const { missingParent, cause } = condition;
  if (missingParent === undefined && cause === undefined) return;
  const value = cause === undefined ? 'parent=missing' : `cause=${cause}`;
  throw new TracewrightError(
    'ERR_ARGUMENT_RANGE',
    `${value} needs the whole recording: use it with \`tracewright report\``,
    { field: '--where', value },
  );
}

/** A test for spans; undefined: all are selected. */
export function spanTest(
  selection: Selection,
  extent: Extent,
): ((span: SpanRecord) => boolean) | undefined {
  if (isAll(selection)) return undefined;
  const { range, condition, traces } = selection;
  const meets = spanCondition({ ...condition, ...rangeOf(range, extent) }, extent.epoch);
  if (traces === undefined) return meets;
  return (span) => traces.some((id) => span.traceId.startsWith(id)) && meets(span);
}

/** A test for what is no span: a state, a mark, a call. Its times are ns since the extent's epoch. */
export function rowTest({ range, condition, traces }: Selection, extent: Extent): RowTest {
  if (traces !== undefined) return () => false;
  const { from = -Infinity, to = Infinity } = rangeOf(range, extent);
  const isOf = rowCondition(condition);
  return (start, end, name, attributes) =>
    start < to && (end > from || start >= from) && isOf(start, end, name, attributes);
}

/** Rows of a batch: so much of a trace is in memory. */
export const EXPORTED_ROWS = 1 << 14;

/** Options of every export. */
export interface ExportOptions {
  /** Default: everything. */
  selection?: Selection;
  /** The callback for a trace's bytes: those done, and those in all. */
  progress?: (trace: FoundTrace) => Progress | undefined;
  /** Takes what cannot be read of a trace; everything else is exported. */
  onFault?: OnFault | undefined;
}
