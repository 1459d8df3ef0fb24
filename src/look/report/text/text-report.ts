import { counted } from '../../../core/counted.js';
import { terminalText } from '../../../core/terminal-text.js';
import { clockText, countText, durationText, timeText } from '../units.js';
import type { GroupBy, Report, ReportSource } from '../report-shape.js';
import { unusualStateText } from '../state-texts.js';
import { shortened } from './display-width.js';
import {
  errorLines,
  groupLines,
  groupWaitLines,
  interruptionLines,
  lossLines,
  mpiLines,
  openLines,
  threadLines,
  traceLines,
} from './text-sections.js';
import { errorsTitle } from '../error-texts.js';
import { hintTexts } from '../hint-texts.js';
import { openText } from '../open-texts.js';
import { waitingGroups } from '../wait-texts.js';
import { textTable } from './text-table.js';
import type { Column } from './text-table.js';
import type { TextStyle } from './text-style.js';
import { wrapped } from './wrapped.js';

const MAX_SOURCES = 12;

/** Titles of the tables of groups. */
export const GROUP_TITLES = { route: 'Routes', name: 'Spans', service: 'Services' } as const;

/** Title of what the spans of groups waited for. */
export function waitTitle(by: GroupBy): string {
  return `What ${GROUP_TITLES[by].toLowerCase()} waited for`;
}

/** Title of the traces. */
export function traceTitle({ slowestOf }: Report): string {
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
export function summaryText({ completeness, sources, length }: Report): string {
  const { spans, traces } = completeness;
  const records = sources.reduce((sum, { rows }) => sum + rows, 0);
  const what =
    spans === 0
      ? counted(records, 'record')
      : `${counted(spans, 'span')}${traces === 0 ? '' : ` in ${counted(traces, 'trace')}`}`;
  return `${what} in ${durationText(length)}, from ${counted(sources.length, 'recording')}`;
}

function* heading(text: string, { paint, width }: TextStyle): Generator<string, void> {
  yield '';
  yield paint('heading', shortened(text, width));
}

function* sourceLines({ sources }: Report, style: TextStyle): Generator<string, void> {
  const columns: Column<ReportSource>[] = [
    { title: '', spare: 0, cell: ({ format }) => format },
    { title: '', spare: 0, least: 8, cell: ({ service }) => service ?? '' },
    { title: '', spare: 2, cell: ({ pid }) => (pid === null ? '' : `process ${pid}`) },
    { title: '', spare: 1, cell: ({ state }) => unusualStateText(state) },
    {
      title: '',
      spare: 3,
      cell: ({ clockOffset, clockError }) => clockText(clockOffset, clockError),
    },
    { title: '', spare: 0, least: 16, cell: ({ path }) => path },
  ];
  const used = columns.filter(({ cell }) => sources.some((source) => cell(source) !== ''));
  yield* textTable(used, sources.slice(0, MAX_SOURCES), style);
  if (sources.length > MAX_SOURCES) {
    yield style.paint('weak', `${countText(sources.length - MAX_SOURCES)} more recordings`);
  }
}

/** The lines of a report for a terminal. */
export function* textReport(report: Report, style: TextStyle): Generator<string, void> {
  const { width, paint } = style;
  const { groups, slowest, interruptions, threads, open, mpi, losses, by, from, to } = report;
  const line = (text: string): string => shortened(terminalText(text), width);
  for (const each of wrapped(summaryText(report), width)) yield paint('title', each);
  for (const each of wrapped(`${timeText(from)} to ${timeText(to)}`, width))
    yield paint('weak', each);
  yield* sourceLines(report, style);
  const incomplete = incompleteText(report);
  if (incomplete !== undefined) {
    for (const each of wrapped(incomplete, width)) yield paint('bad', each);
  }
  for (const hint of hintTexts(report)) {
    for (const each of wrapped(hint.join(' '), width)) yield paint('hint', each);
  }
  if (losses.length > 0) {
    yield* heading('What was lost', style);
    yield* lossLines(report, style);
  }
  if (groups.length > 0) {
    yield* heading(GROUP_TITLES[by], style);
    yield* groupLines(report, style);
    if (waitingGroups(groups).length > 0) {
      yield* heading(waitTitle(by), style);
      yield* groupWaitLines(report, style);
    }
  } else if (mpi.every(({ calls }) => calls.length === 0)) {
    yield '';
    yield line('No span is within this time, or meets the condition.');
  }
  if (report.errors.count > 0) {
    yield* heading(errorsTitle(report.errors), style);
    yield* errorLines(report, style);
  }
  for (const run of mpi) {
    yield* heading(line(`MPI calls of ${counted(run.ranks, 'rank')}, ${run.path}`), style);
    yield* mpiLines(run, style);
  }
  if (slowest.length > 0) {
    yield* heading(traceTitle(report), style);
    for (const [at, trace] of slowest.entries()) {
      if (at > 0) yield '';
      yield* traceLines(trace, at + 1, style);
    }
  }
  if (slowest.length === 0 && report.slowestOf === 'delayed') {
    yield '';
    for (const each of wrapped(NOTHING_DELAYED, width)) yield each;
  }
  if (interruptions.stalls.length + interruptions.collections.length > 0) {
    yield* heading('Stalls of event loops and garbage collections', style);
    yield* interruptionLines(report, style);
  }
  if (open.count > 0) {
    yield* heading(`Open at the end: ${openText(open)}`, style);
    yield* openLines(report, style);
  }
  if (threads.length > 0) {
    yield* heading('Threads', style);
    yield* threadLines(report, style);
  }
}
