import type { Report } from '../../shape/report-shape.js';
import { heapNote } from '../../measures/heap-growth.js';
import { costText, NOTHING_DELAYED, tracesTitle } from '../report-texts.js';
import { calleeTable } from '../tables/callee-table.js';
import { errorExamples, errorTable } from '../tables/error-table.js';
import { findingTable } from '../tables/finding-table.js';
import { groupTable, groupWaitTable, rateNote } from '../tables/group-tables.js';
import { interruptionTable } from '../tables/interruption-tables.js';
import { processTable } from '../tables/process-table.js';
import {
  memoryTable,
  mpiTable,
  poolTable,
  allocationTable,
  profileTable,
  threadTable,
} from '../tables/resource-tables.js';
import { lossTable, sourceTable } from '../tables/source-tables.js';
import { openTable } from '../tables/tree-tables.js';
import { wrapped } from './display-width.js';
import {
  findingLines,
  groupWaitLines,
  interruptionLines,
  mpiLines,
  traceLines,
} from './text-sections.js';
import { sectionLines } from './text-table.js';
import type { TextRole, TextStyle } from './text-style.js';

export type Lines = Generator<string, void>;
type Section = (report: Report, style: TextStyle) => Lines;

/** Lines of a text; none if there is no text. */
export function* paragraph(
  { width, paint }: TextStyle,
  role: TextRole,
  text: string | undefined,
): Lines {
  if (text === undefined) return;
  for (const line of wrapped(text, width)) yield paint(role, line);
}

/** The sections of a report in their order: each yields nothing if the report has nothing for it. */
export const SECTIONS = {
  *recordings(report, style) {
    yield* sectionLines(sourceTable(report), style);
  },
  *losses(report, style) {
    yield* sectionLines(lossTable(report), style);
  },
  *findings(report, style) {
    yield* sectionLines(findingTable(report), style, findingLines(report.findings, style));
  },
  *routes(report, style) {
    if (report.groups.length === 0) return;
    yield* sectionLines(groupTable(report), style);
    yield* paragraph(style, 'weak', rateNote(report));
  },
  *waits(report, style) {
    const waits = groupWaitTable(report);
    yield* sectionLines(waits, style, groupWaitLines(report, waits, style));
  },
  *callees(report, style) {
    yield* sectionLines(calleeTable(report), style);
  },
  *errors({ errors }, style) {
    yield* sectionLines(errorTable(errors), style);
    for (const text of errorExamples(errors)) yield* paragraph(style, 'weak', text);
  },
  *pools({ pools }, style) {
    yield* sectionLines(poolTable(pools), style);
  },
  *mpi({ mpi }, style) {
    for (const run of mpi) yield* sectionLines(mpiTable(run), style, mpiLines(run, style));
  },
  *slowest(report, style) {
    const { slowest, slowestOf } = report;
    if (slowest.length > 0) {
      yield '';
      yield style.paint('heading', tracesTitle(report));
      yield* traceLines(slowest, style);
    } else if (slowestOf === 'delayed') {
      yield '';
      yield* wrapped(NOTHING_DELAYED, style.width);
    }
  },
  *stalls({ interruptions }, style) {
    const lines = interruptionLines(interruptions, style);
    yield* sectionLines(interruptionTable(interruptions), style, lines);
  },
  *processes(report, style) {
    yield* sectionLines(processTable(report), style);
  },
  *open(report, style) {
    yield* sectionLines(openTable(report), style);
  },
  *threads({ threads }, style) {
    yield* sectionLines(threadTable(threads), style);
  },
  *profile({ profile }, style) {
    yield* sectionLines(profileTable(profile), style);
  },
  *allocations({ allocations }, style) {
    yield* sectionLines(allocationTable(allocations), style);
  },
  *memory(report, style) {
    yield* sectionLines(memoryTable(report.memory), style);
    yield* paragraph(style, 'weak', heapNote(report));
  },
  *cost(report, style) {
    yield '';
    yield* paragraph(style, 'weak', costText(report));
  },
} as const satisfies Record<string, Section>;

export type SectionName = keyof typeof SECTIONS;

export const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[];
