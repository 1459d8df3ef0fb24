import { listed, terminalText } from '../../../../core/readable-text.js';
import { wellFormedJson } from '../../../../core/json.js';
import { hintTexts } from '../hint-texts.js';
import type { Report } from '../../shape/report-shape.js';
import { incompleteText, noFindingText, summaryText } from '../report-texts.js';
import { sourceTable } from '../tables/source-tables.js';
import { timeText } from '../../measures/units.js';
import { wrapped } from './display-width.js';
import { paragraph, SECTION_NAMES, SECTIONS, type Lines } from './report-sections.js';
import type { SectionName } from './report-sections.js';
import { screenReport } from './screen-report.js';
import type { TextStyle } from './text-style.js';
import { tableLines } from './text-table.js';

/** Sections of all that a process did. */
const OF_PROCESSES: readonly SectionName[] = ['stalls', 'threads', 'memory'];
const WHOLE = 'Stalls, threads and memory are of the whole process: --where does not apply.';

/** What of a report is printed: everything, one screen, or some sections. */
export type ReportChoice = 'all' | 'screen' | readonly SectionName[];

/**
 * The lines of a report for a terminal.
 *
 * @param selected the options that have selected spans: `--where status=error`.
 */
export function* textReport(
  report: Report,
  style: TextStyle,
  selected: readonly string[] = [],
  choice: ReportChoice = 'all',
): Generator<string, void> {
  const { groups, mpi } = report;
  const isEmpty = groups.length === 0;
  const isNothing = isEmpty && mpi.every(({ calls }) => calls.length === 0);
  const isFiltered = selected.some((option) => option.startsWith('--where'));
  // It is said once, after the first of these sections.
  const notes = isFiltered ? [WHOLE] : [];
  const noteOn = (name: SectionName, lines: readonly string[]): Lines =>
    paragraph(
      style,
      'weak',
      OF_PROCESSES.includes(name) && lines.length > 0 ? notes.pop() : undefined,
    );
  if (typeof choice !== 'string') {
    for (const [at, name] of choice.entries()) {
      const lines = [...SECTIONS[name](report, style)];
      const isApart = lines[0] === '';
      if (at > 0 && !isApart) yield '';
      yield* lines.length === 0
        ? wrapped(emptyText(name, report), style.width)
        : lines.slice(at === 0 && isApart ? 1 : 0);
      yield* noteOn(name, lines);
    }
    return;
  }
  if (isFiltered && isNothing) {
    yield* wrapped(nothingText(report, selected), style.width);
    for (const hint of hintTexts(report)) yield* paragraph(style, 'hint', hint.join(' '));
    return;
  }
  if (choice === 'screen' && !isEmpty) {
    yield* screenReport(report, style, report.interruptions.lines.length > 0 ? notes : []);
    return;
  }
  yield* paragraph(style, 'title', summaryText(report));
  yield* paragraph(style, 'weak', `${timeText(report.from)} to ${timeText(report.to)}`);
  yield* tableLines(sourceTable(report), style);
  yield* paragraph(style, 'bad', incompleteText(report));
  for (const hint of hintTexts(report)) yield* paragraph(style, 'hint', hint.join(' '));
  for (const name of SECTION_NAMES) {
    if (name === 'recordings') continue;
    const lines = [...SECTIONS[name](report, style)];
    yield* lines;
    yield* noteOn(name, lines);
    if (name === 'routes' && isNothing) {
      yield '';
      yield* wrapped(nothingText(report, selected), style.width);
    }
  }
}

/** A report as JSON in one line; what a terminal would act on is escaped. */
export function jsonReport(report: Report): string {
  return terminalText(wellFormedJson(report));
}

/** What is not there, or what would record it. */
const EMPTY: Partial<Record<SectionName, string>> = {
  losses: 'nothing that was recorded is lost.',
  errors: 'no span failed.',
  open: 'no span was open at the end.',
  callees: 'no request here calls a database, a service or a queue.',
  waits: 'nothing here waited for anything else.',
  pools: 'no wait of 1 ms or more is recorded, of the libraries whose pools are.',
  profile: 'TRACEWRIGHT_PROFILE=cpu records which code runs.',
  allocations: 'TRACEWRIGHT_PROFILE=heap records which code allocates.',
  mpi: 'no call of MPI is recorded.',
  stalls: 'TRACEWRIGHT_STALL_MS and TRACEWRIGHT_GC_MS say from which time on they are recorded.',
  memory: 'it is recorded once a second, unless TRACEWRIGHT_STALL_MS=off.',
};

/** Why a section has nothing. */
function emptyText(name: SectionName, report: Report): string {
  const ofFindings = report.by === 'route' ? noFindingText(report) : 'they are of routes.';
  const why = name === 'findings' ? ofFindings : EMPTY[name];
  return `The section ${name} is empty${why === undefined ? '.' : `: ${why}`}`;
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
