import type { ComponentChildren } from 'preact';
import { heapNote } from '../../../look/report/measures/heap-growth.js';
import { figureHints, hintTexts } from '../../../look/report/print/hint-texts.js';
import {
  costText,
  incompleteText,
  summaryText,
  waitShares,
} from '../../../look/report/print/report-texts.js';
import { calleeTable } from '../../../look/report/print/tables/callee-table.js';
import { causeTable } from '../../../look/report/print/tables/error-table.js';
import {
  interruptionTable,
  longStallTable,
  slowShareTable,
  stallLineTable,
} from '../../../look/report/print/tables/interruption-tables.js';
import { processTable } from '../../../look/report/print/tables/process-table.js';
import {
  memoryTable,
  allocationTable,
  profileTable,
  mpiTable,
  poolTable,
  threadTable,
} from '../../../look/report/print/tables/resource-tables.js';
import { lossTable } from '../../../look/report/print/tables/source-tables.js';
import { openTable } from '../../../look/report/print/tables/tree-tables.js';
import type { ReportTable } from '../../../look/report/print/tables/report-table.js';
import { nameWithPath } from '../../../look/report/names/request-name.js';
import type { ErrorType, MpiRun, Report } from '../../../look/report/shape/report-shape.js';
import type { SlowTrace } from '../../../look/report/shape/trace-shape.js';
import type { ReportAnswer } from '../../../look/wire/view-answers.js';
import { FiguresTable, type FiguresTableProps } from '../../charts/figures-table.js';
import { ErrorsLink, MatchesLink, RowLink, TraceLink } from '../../shell/view-link.js';
import { Findings } from './findings.js';
import { GroupFigures } from './group-figures.js';
import { OverTime } from './over-time.js';
import { ServiceMap } from './service-map.js';

interface ReportFiguresProps {
  report: Report;
  /** Rows of the recording that the report names; none in a file. */
  rows?: ReportedRows;
  onRange?: (from: number, to: number) => void;
  /** Before the routes. */
  children?: ComponentChildren;
}

type ReportedRows = Pick<ReportAnswer, 'slowest' | 'open' | 'threads' | 'stalls'>;

const NO_ROWS: ReportedRows = { slowest: [], open: [], threads: [], stalls: [] };

/** All figures of a report: what is wrong first. The page and the file of `report --html` show the same. */
export function ReportFigures({ report, rows = NO_ROWS, onRange, children }: ReportFiguresProps) {
  const { errors, interruptions, pools, mpi, threads, memory, slowest } = report;
  const incomplete = incompleteText(report);
  const leak = heapNote(report);
  const isEmpty = report.groups.length === 0 && threads.length === 0 && mpi.length === 0;
  const hasRequests = report.by === 'route';
  return (
    <>
      <p class="quiet">{summaryText(report)}.</p>
      {isEmpty && (
        <p>There are no spans here. Switch services on or clear the range to see more.</p>
      )}
      {(rows === NO_ROWS ? hintTexts : figureHints)(report).map((sentences) => (
        <p key={sentences[0]}>{sentences.join(' ')}</p>
      ))}
      {incomplete !== undefined && <p>{incomplete}.</p>}
      <Section name="losses" table={lossTable(report)} />
      {(hasRequests || report.findings.length > 0) && (
        <Findings report={report} stalls={rows.stalls} />
      )}
      {leak !== undefined && <p class="quiet">{leak}</p>}
      {mpi.map((run, at) => (
        <MpiFigures key={run.path} run={run} number={at} />
      ))}
      <OverTime report={report} onRange={onRange} />
      <section id="section-routes" aria-label="Routes">
        {children}
        <GroupFigures report={report} />
      </section>
      <div class="pair">
        <Section
          name="callees"
          table={calleeTable(report)}
          cell={({ where }, { title }, text) =>
            title === 'callee' ? <MatchesLink where={where}>{text}</MatchesLink> : undefined
          }
        />
        <Section name="errors" table={causeTable(errors)} cell={causeCell()} />
        <Section name="pools" table={poolTable(pools)} />
        <Section name="stalls" table={stallLineTable(interruptions)} />
        <Section name="profile" table={profileTable(report.profile)} />
        <Section name="allocations" table={allocationTable(report.allocations)} />
        <Section name="memory" table={memoryTable(memory)} />
        <Section name="processes" table={processTable(report)} />
      </div>
      <Section
        name="open"
        table={openTable(report)}
        cell={(_, { title }, text, at) =>
          title === 'span' ? (
            <RowLink found={rows.open[at]} view="trace">
              {text}
            </RowLink>
          ) : undefined
        }
      />
      <ServiceMap report={report} />
      {!hasRequests && <Section name="threads" table={threadTable(threads)} />}
      <details class="more">
        <summary>More figures: slowest traces, stalls one by one, threads</summary>
        <SlowTraces slowest={slowest} rows={rows.slowest} />
        <Section
          name="longest"
          table={longStallTable(interruptions)}
          cell={(stall, { title }, text) =>
            title === 'took' ? (
              <RowLink found={rows.stalls[interruptions.longest.indexOf(stall)]} view="time-line">
                {text}
              </RowLink>
            ) : undefined
          }
        />
        {hasRequests && <Section name="threads" table={threadTable(threads)} />}
        <div class="pair">
          <Section
            name="interruptions"
            table={interruptionTable(interruptions)}
            cell={(_, { title }, text, at) =>
              title === 'what' ? (
                <RowLink found={rows.threads[at]} view="time-line">
                  {text}
                </RowLink>
              ) : undefined
            }
          />
          <Section name="slow-shares" table={slowShareTable(interruptions)} />
        </div>
        <p class="quiet">{costText(report)}.</p>
      </details>
    </>
  );
}

/**
 * Cells of the table of causes that lead further.
 *
 * @param within a search whose matches failed.
 */
export function causeCell(within?: string): NonNullable<FiguresTableProps<ErrorType>['cell']> {
  return function Cell({ where, example }, { title, unit }, text) {
    if (unit === 'count') {
      return (
        <ErrorsLink where={where} within={within}>
          {text}
        </ErrorsLink>
      );
    }
    return title === 'trace' && example !== null ? (
      <TraceLink id={example} text={text} />
    ) : undefined;
  };
}

/** Rows of a section that are shown at first. */
const FEW = 7;

interface SectionProps<T> extends Pick<FiguresTableProps<T>, 'cell'> {
  name: string;
  table: ReportTable<T>;
}

/** A table to which findings link; nothing if it has no rows. */
function Section<T>({ name, table, ...further }: SectionProps<T>) {
  if (table.rows.length === 0) return null;
  // Keys scroll a table that is too wide: by its links, or without any by itself.
  const tabIndex = further.cell === undefined ? 0 : -1;
  return (
    <section id={`section-${name}`} aria-label={table.title} tabIndex={tabIndex}>
      <FiguresTable table={table} few={FEW} {...further} />
    </section>
  );
}

interface SlowTracesProps {
  slowest: readonly SlowTrace[];
  rows: ReportAnswer['slowest'];
}

/** The slowest traces, and why. */
export function SlowTraces({ slowest, rows }: SlowTracesProps) {
  const table: ReportTable<SlowTrace> = {
    title: 'Slowest traces, and what they waited for',
    columns: [
      { title: 'took', unit: 'duration', value: ({ duration }) => duration, spare: 0 },
      { title: 'request', unit: 'text', value: nameWithPath, spare: 0, least: 16 },
      { title: 'service', unit: 'text', value: ({ service }) => service, spare: 3 },
      { title: 'waited for', unit: 'text', value: waitShares, spare: 1, isProse: true },
      { title: 'blocked', unit: 'duration', value: ({ stalls }) => stalls, spare: 3 },
      { title: 'gc', unit: 'duration', value: ({ collections }) => collections, spare: 3 },
    ],
    rows: slowest,
    more: 0,
    what: 'traces',
  };
  return (
    <Section
      name="slowest"
      table={table}
      cell={({ traceId }, { title }, text, at) => {
        if (title !== 'request') return undefined;
        if (rows[at] !== undefined || traceId === null)
          return (
            <RowLink found={rows[at]} view="trace">
              {text}
            </RowLink>
          );
        return <TraceLink id={traceId} text={text} />;
      }}
    />
  );
}

const MOST_PAIRS = 50;

/** Calls of MPI, and what ranks sent to each other. */
function MpiFigures({ run, number }: { run: MpiRun; number: number }) {
  const { traffic } = run;
  const pairs: ReportTable<MpiRun['traffic'][number]> = {
    title: 'Messages from rank to rank',
    columns: [
      {
        title: 'ranks',
        unit: 'text',
        value: ({ from, to }) => `${from} → ${to}`,
        spare: 0,
        least: 16,
      },
      { title: 'messages', unit: 'count', value: ({ messages }) => messages, spare: 0 },
      { title: 'bytes', unit: 'bytes', value: ({ bytes }) => bytes, spare: 0 },
    ],
    rows: traffic.slice(0, MOST_PAIRS),
    more: Math.max(0, traffic.length - MOST_PAIRS),
    what: 'pairs of ranks',
  };
  return (
    <div class="pair">
      <Section name={`calls-${number}`} table={mpiTable(run)} />
      <Section name={`messages-${number}`} table={pairs} />
    </div>
  );
}
