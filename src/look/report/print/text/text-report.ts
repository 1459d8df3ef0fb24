import { listed, terminalText } from '../../../../core/readable-text.js';
import { wellFormedJson } from '../../../../core/json.js';
import { hintTexts } from '../hint-texts.js';
import type { Report } from '../../shape/report-shape.js';
import {
  costText,
  incompleteText,
  NOTHING_DELAYED,
  summaryText,
  tracesTitle,
} from '../report-texts.js';
import { findingTable } from '../tables/finding-table.js';
import { errorExamples, errorTable } from '../tables/error-table.js';
import { groupTable, rateNote, groupWaitTable } from '../tables/group-tables.js';
import { interruptionTable } from '../tables/interruption-tables.js';
import { memoryTable, poolTable, threadTable, mpiTable } from '../tables/resource-tables.js';
import { lossTable, sourceTable } from '../tables/source-tables.js';
import { openTable } from '../tables/tree-tables.js';
import { timeText } from '../../measures/units.js';
import { wrapped } from './display-width.js';
import {
  findingLines,
  groupWaitLines,
  interruptionLines,
  mpiLines,
  traceLines,
} from './text-sections.js';
import type { TextRole, TextStyle } from './text-style.js';
import { tableLines, sectionLines } from './text-table.js';

/**
 * The lines of a report for a terminal.
 *
 * @param selected the options that have selected spans: `--where status=error`.
 */
export function* textReport(
  report: Report,
  style: TextStyle,
  selected: readonly string[] = [],
): Generator<string, void> {
  const { width, paint } = style;
  const { groups, slowest, interruptions, threads, mpi, errors, pools } = report;
  function* paragraph(role: TextRole, text: string | undefined): Generator<string, void> {
    if (text === undefined) return;
    for (const line of wrapped(text, width)) yield paint(role, line);
  }
  yield* paragraph('title', summaryText(report));
  yield* paragraph('weak', `${timeText(report.from)} to ${timeText(report.to)}`);
  yield* tableLines(sourceTable(report), style);
  yield* paragraph('bad', incompleteText(report));
  for (const hint of hintTexts(report)) yield* paragraph('hint', hint.join(' '));
  yield* sectionLines(lossTable(report), style);
  yield* sectionLines(findingTable(report), style, findingLines(report.findings, style));
  if (groups.length > 0) {
    yield* sectionLines(groupTable(report), style);
    yield* paragraph('weak', rateNote(report));
    const waits = groupWaitTable(report);
    yield* sectionLines(waits, style, groupWaitLines(report, waits, style));
  } else if (mpi.every(({ calls }) => calls.length === 0)) {
    yield '';
    yield* wrapped(nothingText(report, selected), width);
  }
  yield* sectionLines(errorTable(errors), style);
  for (const text of errorExamples(errors)) yield* paragraph('weak', text);
  yield* sectionLines(poolTable(pools), style);
  for (const run of mpi) yield* sectionLines(mpiTable(run), style, mpiLines(run, style));
  if (slowest.length > 0) {
    yield '';
    yield paint('heading', tracesTitle(report));
    yield* traceLines(slowest, style);
  }
  if (slowest.length === 0 && report.slowestOf === 'delayed') {
    yield '';
    yield* wrapped(NOTHING_DELAYED, width);
  }
  yield* sectionLines(
    interruptionTable(interruptions),
    style,
    interruptionLines(interruptions, style),
  );
  yield* sectionLines(openTable(report), style);
  yield* sectionLines(threadTable(threads), style);
  yield* sectionLines(memoryTable(report.memory), style);
  yield '';
  yield* paragraph('weak', costText(report));
}

/** A report as JSON in one line; what a terminal would act on is escaped. */
export function jsonReport(report: Report): string {
  return terminalText(wellFormedJson(report));
}

/** Why there are no groups. */
function nothingText({ attributes }: Report, selected: readonly string[]): string {
  const meeting = selected.length === 0 ? '' : ` that meets ${listed(selected)}`;
  if (attributes.length === 0) return `There is no span${meeting}.`;
  const hint = attributes.includes('db.query.text')
    ? ' The text of queries is recorded with TRACEWRIGHT_QUERY_TEXT=1.'
    : '';
  return `No span${meeting} has ${attributes.join(', ')}.${hint}`;
}
