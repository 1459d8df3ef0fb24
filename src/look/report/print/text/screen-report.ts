import type { Report } from '../../shape/report-shape.js';
import { heapNote } from '../../measures/heap-growth.js';
import { timeText } from '../../measures/units.js';
import { figureHints, hintTexts } from '../hint-texts.js';
import { endText, incompleteText, noFindingText, PREFIX, summaryText } from '../report-texts.js';
import { causeTable } from '../tables/error-table.js';
import { findingTable } from '../tables/finding-table.js';
import { groupTable } from '../tables/group-tables.js';
import { stallLineTable } from '../tables/interruption-tables.js';
import { processTable } from '../tables/process-table.js';
import type { ReportTable } from '../tables/report-table.js';
import { allocationTable, profileTable } from '../tables/resource-tables.js';
import { lossTable } from '../tables/source-tables.js';
import { openTopTable } from '../tables/tree-tables.js';
import { paragraph } from './report-sections.js';
import type { SectionName } from './report-sections.js';
import { findingLines } from './text-sections.js';
import type { TextStyle } from './text-style.js';
import { sectionLines } from './text-table.js';

/** Rows of what is open. */
const OPEN_ROWS = 6;
/** Lines of a screen. */
export const SCREEN_LINES = 50;

/** A table of the screen, and how many of its rows are shown at most and at least. */
interface ScreenTable {
  section: SectionName;
  lines: (rows: number, style: TextStyle) => string[];
  all: number;
  rows: number;
  least: number;
}

function screenTable<T>(
  table: ReportTable<T>,
  section: SectionName,
  most: number,
  least: number,
): ScreenTable {
  return {
    section,
    all: table.rows.length,
    rows: Math.min(most, table.rows.length),
    least,
    lines(rows, style) {
      const more = table.more + table.rows.length - rows;
      const shown = { ...table, rows: table.rows.slice(0, rows), more };
      return [...sectionLines(shown, style, undefined, `--section ${section}`)];
    },
  };
}

/**
 * The lines of the report that fit one screen: what is wrong, and the figures that say most.
 *
 * @param notes on the tables, a line each.
 */
export function* screenReport(
  report: Report,
  style: TextStyle,
  notes: readonly string[] = [],
): Generator<string, void> {
  const { errors, interruptions } = report;
  const head = [...headLines(report, style)];
  const processes = processTable(report);
  const haveAllEnded = !processes.rows.some((row) => endText(row) !== '');
  const tables = [
    screenTable(lossTable(report), 'losses', 3, 1),
    screenTable(groupTable(report), 'routes', 12, 8),
    screenTable(causeTable(errors), 'errors', 6, 2),
    screenTable(stallLineTable(interruptions), 'stalls', 4, 1),
    screenTable(profileTable(report.profile), 'profile', 5, 0),
    screenTable(allocationTable(report.allocations), 'allocations', 5, 0),
    screenTable(processes, 'processes', 5, haveAllEnded ? 0 : 1),
    screenTable(openTopTable(report, OPEN_ROWS), 'open', OPEN_ROWS, 1),
  ];
  // The least room is found by taking rows of the longest table.
  for (;;) {
    const lines = tables.map(({ lines: linesOf, rows, all }) => {
      const own = linesOf(rows, style);
      // The last row takes no more room than the line that it is left out.
      const whole = rows > 0 && rows === all - 1 ? linesOf(all, style) : own;
      return whole.length <= own.length ? whole : own;
    });
    const without = tables.flatMap(({ section, rows, all }) =>
      rows === 0 && all > 0 ? [section] : [],
    );
    const foot = [
      ...footLines(report, style, without),
      ...notes.flatMap((note) => [...paragraph(style, 'weak', note)]),
    ];
    const count = lines.reduce((sum, { length }) => sum + length, head.length + foot.length);
    const [longest] = tables
      .filter(({ rows, least }) => rows > least)
      .sort((a, b) => b.rows - b.least - (a.rows - a.least));
    if (count <= SCREEN_LINES || longest === undefined) {
      yield* head;
      for (const each of lines) yield* each;
      yield* foot;
      return;
    }
    longest.rows -= 1;
  }
}

function* headLines(report: Report, style: TextStyle): Generator<string, void> {
  yield* paragraph(style, 'title', summaryText(report));
  yield* paragraph(style, 'weak', `${timeText(report.from)} to ${timeText(report.to)}`);
  yield* paragraph(style, 'bad', incompleteText(report));
  for (const hint of report.recordedTwice === null ? figureHints(report) : hintTexts(report)) {
    yield* paragraph(style, 'hint', hint.join(' '));
  }
  yield* sectionLines(findingTable(report), style, findingLines(report.findings, style));
  if (report.findings.length > 0 || report.by !== 'route') return;
  yield '';
  yield* paragraph(style, 'weak', `No finding: ${noFindingText(report)}`);
}

/** @param without sections of the screen that have no room. */
function* footLines(
  report: Report,
  style: TextStyle,
  without: readonly SectionName[],
): Generator<string, void> {
  const { findings, errors, allocations } = report;
  const further = new Set<SectionName>([
    ...without,
    ...(errors.types.length > 0 ? (['errors'] as const) : []),
    ...(['waits', 'callees', 'pools', 'slowest', 'stalls', 'threads', 'memory'] as const),
    ...(allocations.length > 0 ? (['allocations'] as const) : []),
    'recordings',
  ]);
  const examples = [...findings.map(({ trace }) => trace), errors.types[0]?.example ?? null];
  const example = examples.find((trace) => trace !== null);
  yield '';
  yield* paragraph(style, 'weak', heapNote(report));
  if (example !== undefined) {
    yield* paragraph(style, 'weak', `A trace: tracewright trace ${example.slice(0, PREFIX)} PATH`);
  }
  yield* paragraph(style, 'weak', `More: --all, or --section NAME of ${[...further].join(', ')}`);
}
