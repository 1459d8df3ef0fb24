import { counted, terminalText } from '../../core/readable-text.js';
import { wellFormedJson } from '../../core/json.js';
import { INSTANT_BIT } from '../index/look-index.js';
import type { Condition, LookIndex, StoredColumn } from '../index/look-index.js';
import { selectedCounts } from '../report/groups/released-groups.js';
import { CHOSEN, RowSelection, SPAN, endOf } from '../report/measures/selection.js';
import { wrapped } from '../report/print/text/display-width.js';
import type { TextStyle } from '../report/print/text/text-style.js';
import { sectionLines } from '../report/print/text/text-table.js';
import { durationText, isoTime, timeText } from '../report/measures/units.js';
import { withCauseRows } from '../report/errors/error-types.js';
import { compareErrors } from './compare-errors.js';
import { compareMemory } from './compare-memory.js';
import { compareGroups } from './compare-groups.js';
import type { RowsOfSide } from './compare-groups.js';
import { COMPARISON_VERSION } from './comparison-shape.js';
import type { ComparedRecordings, Comparison } from './comparison-shape.js';
import { comparisonTables } from './comparison-table.js';
import { comparisonSummary, differentServicesText, shortSideText } from './comparison-texts.js';

/** An index, and which of its rows are compared. */
export interface ComparedIndex {
  index: LookIndex;
  condition: Condition;
}

const COLUMNS: readonly StoredColumn[] = [
  'start',
  'duration',
  'track',
  'flags',
  'name',
  'parent',
  'route',
];

/**
 * Compares the spans of recordings with those of others.
 *
 * @param attributes by whose values, if any are given.
 */
export async function compareRecordings(
  before: ComparedIndex,
  after: ComparedIndex,
  attributes: readonly string[] = [],
): Promise<Comparison> {
  const [first, second] = [await sideOf(before), await sideOf(after)];
  const groups = compareGroups(first.rows, second.rows, attributes);
  const errors = await compareErrors(first.rows, second.rows);
  const memory = compareMemory(first.rows, second.rows);
  const { described: of } = second;
  return {
    version: COMPARISON_VERSION,
    before: first.described,
    after: of,
    groups,
    errors,
    memory,
  };
}

async function sideOf({
  index,
  condition,
}: ComparedIndex): Promise<{ rows: RowsOfSide; described: ComparedRecordings }> {
  const selection = await RowSelection.of(index, await withCauseRows(index, condition));
  const all = index.sources.filter(({ content }) => content !== 'states of threads');
  // States of threads say nothing next to spans.
  const sources = all.length === 0 ? index.sources : all;
  const services = sources.flatMap(({ service }) => (service === undefined ? [] : [service]));
  const { rows, spans } = await chosenRows(selection);
  const { from, to } = selection.window;
  const end = Math.min(to, endOf(index));
  const described: ComparedRecordings = {
    paths: sources.map(({ path }) => path),
    services: [...new Set(services)].sort(),
    from: isoTime(index.epoch, from),
    to: isoTime(index.epoch, end),
    length: Math.max(1, end - from),
    spans,
  };
  return {
    rows: {
      index,
      rows,
      sources: new Set(sources.map(({ number }) => number)),
      released: [...selectedCounts(index, condition)],
      window: selection.window,
    },
    described,
  };
}

/** The rows of a selection that have a duration, and how many of them are spans. */
async function chosenRows(selection: RowSelection): Promise<{ rows: Int32Array; spans: number }> {
  const { index } = selection;
  const rows = new Int32Array(index.rows);
  let [size, spans] = [0, 0];
  for (const part of index.parts) {
    if (!selection.mayHave(part)) continue;
    await part.load(COLUMNS);
    const marks = selection.marksOf(part);
    const { flags, firstRow } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & CHOSEN) === 0 || (flags[at]! & INSTANT_BIT) !== 0) continue;
      rows[size++] = firstRow + at;
      if ((marks[at]! & SPAN) !== 0) spans++;
    }
  }
  return { rows: rows.subarray(0, size), spans };
}

type Lines = Generator<string, void>;

/** Paths of a side that are named. */
const MAX_PATHS = 3;

/** A comparison as JSON in one line; what a terminal would act on is escaped. */
export function comparisonJson(comparison: Comparison): string {
  return terminalText(wellFormedJson(comparison));
}

/** The lines of a comparison for a terminal. */
export function* comparisonText(comparison: Comparison, style: TextStyle): Lines {
  const { before, after, groups } = comparison;
  yield* sideLines('Before', before, style);
  yield* sideLines('After', after, style);
  const different = differentServicesText(before.services, after.services);
  if (different !== undefined) {
    for (const line of wrapped(different, style.width)) yield style.paint('bad', line);
  }
  const short = shortSideText(before.length, after.length);
  if (short !== undefined) yield* wrapped(short, style.width);
  yield '';
  yield* wrapped(comparisonSummary(groups), style.width);
  const { presence, calls, slower, faster, errors, memory, same, few } =
    comparisonTables(comparison);
  yield* sectionLines(presence, style);
  yield* sectionLines(calls, style);
  for (const table of [slower, faster]) yield* sectionLines(table, style);
  yield* sectionLines(errors, style);
  yield* sectionLines(memory, style);
  for (const table of [same, few]) yield* sectionLines(table, style);
}

function* sideLines(title: string, side: ComparedRecordings, style: TextStyle): Lines {
  const { paths, spans, length, from, to } = side;
  const further = paths.length - MAX_PATHS;
  const named = paths.slice(0, MAX_PATHS).join(', ');
  const where = further > 0 ? `${named} and ${counted(further, 'more')}` : named;
  const all = `${title}: ${counted(spans, 'span')} in ${durationText(length)}, from ${where}`;
  for (const line of wrapped(all, style.width)) yield style.paint('title', line);
  for (const line of wrapped(`${timeText(from)} to ${timeText(to)}`, style.width)) {
    yield style.paint('weak', line);
  }
}
