import { isError } from '../../index/index-row.js';
import type { IndexRow } from '../../index/index-row.js';
import type { Condition, IndexPart, LookIndex } from '../../index/look-index.js';
import { inTurns, type Steps } from '../../index/turns.js';
import { firstAtLeast } from '../../index/parts/first-at-least.js';
import { ErrorGroups, READ_A_STEP } from './error-groups.js';
import { isoTime } from '../measures/units.js';
import type { FailedSpans } from '../shape/report-shape.js';
import { nextRandom } from '../measures/samples.js';
import { RowSelection, SPAN } from '../measures/selection.js';

/** Failed spans whose records are read. */
const MOST_READ = 5000;
/** Of those before the window, in which an error is looked for that may be new. */
const MOST_BEFORE = 100_000;
/** Of what failed with those that are read. */
const MOST_OTHERS = 2;

/** Errors of a selection, as far as they were read. */
export interface ReadErrors {
  count: number;
  read: number;
  groups: ErrorGroups;
}

/**
 * Why spans failed: by type, message and frame, the most frequent first. Of many spans some are read, taken evenly.
 * Also the calls among those that were read.
 *
 * @param before the same selection before its window; undefined: it begins with the recording.
 */
export function* errorTypes(
  selection: RowSelection,
  before: RowSelection | undefined,
): Steps<{ errors: FailedSpans; failedCalls: IndexRow[] }> {
  const { index } = selection;
  const failing = yield* failingRows(selection);
  const { count, read, groups } = yield* readErrors(index, failing, MOST_READ, selection.isWhole);
  const failedCalls = [...groups.calls()];
  if (before === undefined) {
    return { errors: { count, read, newSince: null, types: groups.types() }, failedCalls };
  }
  const { from } = selection.window;
  const earlier = yield* failingRows(before, from);
  const known = yield* readErrors(index, earlier, MOST_BEFORE);
  const types = groups.types(known.groups.keys(true));
  return {
    errors: { count, read, newSince: isoTime(index.epoch, from), types },
    failedCalls,
  };
}

/** The errors of what meets a condition. */
export async function errorGroups(index: LookIndex, condition: Condition): Promise<ErrorGroups> {
  return inTurns(groupsOf(await RowSelection.of(index, condition)));
}

function* groupsOf(selection: RowSelection): Steps<ErrorGroups> {
  const failing = yield* failingRows(selection);
  return (yield* readErrors(selection.index, failing, MOST_READ, selection.isWhole)).groups;
}

/** A condition with the rows of the cause that it names, among those that meet the rest of it, or are below them. */
export async function withCauseRows(index: LookIndex, condition: Condition): Promise<Condition> {
  const { cause, ...others } = condition;
  if (cause === undefined || condition.rows !== undefined) return condition;
  return { ...condition, rows: (await errorGroups(index, others)).rowsOf(cause) };
}

/** Selects what precedes the window of a condition; undefined: nothing does. */
export async function selectionBefore(
  selection: RowSelection,
  condition: Condition,
): Promise<RowSelection | undefined> {
  const { index, window } = selection;
  // The rows of a cause are those of the window.
  if (condition.from === undefined || window.from <= 0 || condition.rows !== undefined)
    return undefined;
  return RowSelection.of(index, { ...condition, from: 0, to: window.from });
}

/**
 * Reads some of the failed spans among rows, each as likely as any other.
 *
 * @param areAll whether no other span of the index has failed.
 */
export function* readErrors(
  index: LookIndex,
  failing: readonly Int32Array[],
  most: number,
  areAll = false,
): Steps<ReadErrors> {
  const count = failing.reduce((sum, { length }) => sum + length, 0);
  const read = Math.min(count, most);
  const groups = new ErrorGroups(index);
  let [left, wanted, random] = [count, read, 1];
  for (const rows of failing) {
    for (const row of rows) {
      // The same in every run. At equal distances, samples would meet the same errors of a pattern.
      random = nextRandom(random);
      if (random * left-- >= wanted * 0x8000_0000) continue;
      groups.add(row);
      if (--wanted % READ_A_STEP === 0) yield;
    }
  }
  if (!areAll || read < count) {
    const isSelected = (row: number): boolean =>
      failing.some((rows) => rows[firstAtLeast(rows, row)] === row);
    yield* groups.addOthers(MOST_OTHERS * most, isSelected);
  }
  return { count, read, groups };
}

/** @param endedBy of those that ended until then, in ns of the index. */
function* failingRows(selection: RowSelection, endedBy = Infinity): Steps<Int32Array[]> {
  const failing: Int32Array[] = [];
  for (const part of selection.index.parts) {
    yield;
    failing.push(failedRows(selection, part, endedBy - part.offset));
  }
  return failing;
}

function failedRows(selection: RowSelection, part: IndexPart, endedBy: number): Int32Array {
  const marks = selection.marksOf(part);
  if (marks.length === 0) return new Int32Array(0);
  const { flags, firstRow, start, duration } = part;
  const rows: number[] = [];
  for (let at = 0; at < marks.length; at++) {
    if (marks[at] === 0 || !isError(flags[at]!) || !(start[at]! + duration[at]! < endedBy))
      continue;
    // What failed below the requests that are asked for is why they failed.
    if ((marks[at]! & SPAN) !== 0 || selection.isBelowChosen(part, at)) rows.push(firstRow + at);
  }
  return Int32Array.from(rows);
}
