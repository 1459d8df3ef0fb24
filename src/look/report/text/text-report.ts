import { terminalText } from '../../../core/terminal-text.js';
import { hintTexts } from '../hint-texts.js';
import type { Report } from '../report-shape.js';
import {
  costText,
  incompleteText,
  NOTHING_DELAYED,
  summaryText,
  tracesTitle,
} from '../report-texts.js';
import { errorExamples, errorsTitle, errorTable } from '../tables/error-table.js';
import { groupsTitle, groupTable, rateNote, waitTitle } from '../tables/group-tables.js';
import { INTERRUPTIONS_TITLE } from '../tables/interruption-tables.js';
import { mpiTitle } from '../tables/mpi-table.js';
import { openTable, openTitle } from '../tables/open-table.js';
import { POOLS_TITLE, poolTable } from '../tables/pool-table.js';
import { lossTable, sourceTable } from '../tables/source-tables.js';
import { threadTable } from '../tables/thread-table.js';
import { timeText } from '../units.js';
import { waitingGroups } from '../wait-texts.js';
import { shortened } from './display-width.js';
import { groupWaitLines, interruptionLines, mpiLines, traceLines } from './text-sections.js';
import { tableLines } from './text-table.js';
import type { TextRole, TextStyle } from './text-style.js';
import { wrapped } from './wrapped.js';

/** The lines of a report for a terminal. */
export function* textReport(report: Report, style: TextStyle): Generator<string, void> {
  const { width, paint } = style;
  const { groups, slowest, interruptions, threads, open, mpi, losses, errors, pools } = report;
  function* paragraph(role: TextRole, text: string | undefined): Generator<string, void> {
    if (text === undefined) return;
    for (const line of wrapped(text, width)) yield paint(role, line);
  }
  function* section(title: string, lines: Iterable<string>): Generator<string, void> {
    yield '';
    yield paint('heading', shortened(terminalText(title), width));
    yield* lines;
  }
  yield* paragraph('title', summaryText(report));
  yield* paragraph('weak', `${timeText(report.from)} to ${timeText(report.to)}`);
  yield* tableLines(sourceTable(report), style);
  yield* paragraph('bad', incompleteText(report));
  for (const hint of hintTexts(report)) yield* paragraph('hint', hint.join(' '));
  if (losses.length > 0) yield* section('What was lost', tableLines(lossTable(report), style));
  if (groups.length > 0) {
    yield* section(groupsTitle(report), tableLines(groupTable(report), style));
    yield* paragraph('weak', rateNote(report));
    if (waitingGroups(groups).length > 0) {
      yield* section(waitTitle(report), groupWaitLines(report, style));
    }
  } else if (mpi.every(({ calls }) => calls.length === 0)) {
    yield '';
    yield shortened('No span is within this time, or meets the condition.', width);
  }
  if (errors.count > 0) {
    yield* section(errorsTitle(errors), tableLines(errorTable(errors), style));
    for (const text of errorExamples(errors)) yield* paragraph('weak', text);
  }
  if (pools.length > 0) yield* section(POOLS_TITLE, tableLines(poolTable(pools), style));
  for (const run of mpi) yield* section(mpiTitle(run), mpiLines(run, style));
  if (slowest.length > 0) yield* section(tracesTitle(report), traceLines(slowest, style));
  if (slowest.length === 0 && report.slowestOf === 'delayed') {
    yield '';
    yield* wrapped(NOTHING_DELAYED, width);
  }
  if (interruptions.threads.length > 0) {
    yield* section(INTERRUPTIONS_TITLE, interruptionLines(interruptions, style));
  }
  if (open.count > 0) yield* section(openTitle(report), tableLines(openTable(open), style));
  if (threads.length > 0) yield* section('Threads', tableLines(threadTable(threads), style));
  yield '';
  yield* paragraph('weak', costText(report));
}
