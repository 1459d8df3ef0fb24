import type { ReportTable } from '../tables/report-table.js';
import { terminalText } from '../../../../core/readable-text.js';
import {
  AT_START,
  causeText,
  countsText,
  ranText,
  delayedByText,
  interruptedText,
  threadText,
} from '../interruption-texts.js';
import type { MpiRun, Report, Group } from '../../shape/report-shape.js';
import type { Finding } from '../../shape/finding-shape.js';
import type { Interruptions, LongStall } from '../../shape/thread-shape.js';
import type { SlowTrace, TreeRow } from '../../shape/trace-shape.js';
import {
  interruptionTable,
  longStallTable,
  NOTHING_SLOWED,
  slowShareTable,
  stallLineTable,
} from '../tables/interruption-tables.js';
import { furtherText } from '../tables/finding-table.js';
import { mpiTable } from '../tables/resource-tables.js';
import { cellText } from '../tables/report-table.js';
import { endOfTrace, traceTable } from '../tables/tree-tables.js';
import { bytesText, countText, durationText, timeText } from '../../measures/units.js';
import { heldTexts, waitedText } from '../report-texts.js';
import { shortenedInside, wrapped } from './display-width.js';
import { tableLines } from './text-table.js';
import type { TextColumn } from './text-table.js';
import type { TextStyle } from './text-style.js';

const MAX_MATRIX_RANKS = 16;
/** From so many columns on there is room for bars. */
const BARS_FROM = 100;

type Lines = Generator<string, void>;

/** Findings in sentences, each with its evidence and where to go on. */
export function* findingLines(findings: readonly Finding[], { width, paint }: TextStyle): Lines {
  for (const [at, finding] of findings.entries()) {
    const first = `${at + 1} `;
    for (const [line, text] of [...wrapped(finding.text, width - first.length)].entries()) {
      yield paint('bad', (line === 0 ? first : ' '.repeat(first.length)) + text);
    }
    for (const text of wrapped(furtherText(finding), width - first.length)) {
      yield paint('weak', ' '.repeat(first.length) + text);
    }
  }
}

/** Yields sentences on what groups waited for. They are wrapped where a table would be cut. */
export function* groupWaitLines(
  report: Report,
  { columns, rows }: ReportTable<Group>,
  style: TextStyle,
): Lines {
  for (const group of rows) {
    const { service, sampled, recorded } = group;
    const title =
      cellText(columns[0]!, group) +
      (service === null || report.by === 'service' ? '' : ` of ${service}`);
    const some =
      sampled < recorded ? ` (estimated from ${countText(sampled)} of ${countText(recorded)})` : '';
    yield* wrapped(`${title}${some}: ${cellText(columns.at(-1)!, group)}`, style.width);
  }
}

/** The slowest traces as trees, with numbers unless it is the only one. */
export function* traceLines(
  slowest: readonly SlowTrace[],
  style: TextStyle,
  isOnly = false,
): Lines {
  const { width, paint } = style;
  for (const [at, trace] of slowest.entries()) {
    if (at > 0) yield '';
    const { start, traceId } = trace;
    const table = traceTable(trace);
    yield paint(
      'title',
      shortenedInside(terminalText(`${isOnly ? '' : `${at + 1}. `}${table.title}`), width),
    );
    const when = `${timeText(start)}${traceId === null ? '' : `, trace ${traceId}`}`;
    for (const line of wrapped(when, width)) yield paint('weak', line);
    for (const text of [delayedByText(trace), waitedText(trace), interruptedText(trace)]) {
      if (text !== undefined) yield* wrapped(text, width);
    }
    const columns = width < BARS_FROM ? table.columns : [...table.columns, barColumn(trace, width)];
    yield* tableLines({ ...table, columns }, style);
    for (const text of heldTexts(trace)) yield* wrapped(text, width);
  }
}

/** Pictures of when each span of a trace ran. */
function barColumn(trace: SlowTrace, width: number): TextColumn<TreeRow> {
  const room = Math.min(48, Math.floor(width / 4));
  const end = endOfTrace(trace);
  const value = ({ start, duration }: TreeRow): string => {
    const from = Math.min(Math.floor((start / end) * room), room - 1);
    const to = Math.min(Math.max(from + 1, Math.round(((start + duration) / end) * room)), room);
    return ' '.repeat(from) + '█'.repeat(to - from);
  };
  return { title: '', unit: 'text', value, spare: 4, role: 'bar' };
}

export function* interruptionLines(interruptions: Interruptions, style: TextStyle): Lines {
  yield* tableLines(interruptionTable(interruptions), style);
  const lines = stallLineTable(interruptions);
  if (lines.rows.length > 0) {
    yield '';
    yield* titleLines(lines.title, style);
    yield* tableLines(lines, style);
  }
  const stalls = longStallTable(interruptions);
  if (stalls.rows.length > 0) {
    yield '';
    yield* titleLines(stalls.title, style);
    for (const stall of stalls.rows) yield* stallLines(stall, style);
  }
  const shares = slowShareTable(interruptions);
  if (shares.rows.length === 0) {
    if (interruptions.slow.length > 0) yield* wrapped(NOTHING_SLOWED, style.width);
    return;
  }
  yield '';
  yield* wrapped(shares.title, style.width);
  yield* tableLines(shares, style);
}

function* titleLines(title: string, { width, paint }: TextStyle): Lines {
  for (const line of wrapped(`${title}:`, width)) yield paint('title', line);
}

/** A stall in sentences: what it delayed is too long for a table. */
function* stallLines(stall: LongStall, { width }: TextStyle): Lines {
  const { duration, start, atStart, delayed } = stall;
  const when = `${timeText(start)}${atStart ? `, ${AT_START}` : ''}`;
  yield* wrapped(`${durationText(duration)} ${threadText(stall)} at ${when}`, width);
  const cause = causeText(stall);
  const ran = ranText(stall);
  const texts = [
    ...(cause === '' ? [] : [`cause: ${cause}`]),
    ...(ran === '' ? [] : [`ran: ${ran}`]),
    ...(delayed.length > 0 ? [`delayed: ${countsText(delayed)}`] : []),
  ];
  if (ran.length + delayed.length === 0) texts.push('no span of this thread was open');
  for (const text of texts) {
    for (const line of wrapped(text, width - 2)) yield `  ${line}`;
  }
}

export function* mpiLines(run: MpiRun, style: TextStyle): Lines {
  yield* tableLines(mpiTable(run), style);
  if (run.traffic.length === 0) return;
  yield '';
  yield* matrixLines(run, style);
}

/** Bytes from rank to rank, or messages if the bytes are unknown. */
function* matrixLines({ ranks, traffic }: MpiRun, style: TextStyle): Lines {
  const known = traffic.every(({ bytes }) => bytes !== null);
  const title = known
    ? 'Bytes from rank (down) to rank (across):'
    : 'Messages from rank (down) to rank (across):';
  yield* wrapped(title, style.width);
  const size = Math.min(ranks, MAX_MATRIX_RANKS);
  const cells = new Map(traffic.map((pair) => [pair.from * ranks + pair.to, pair]));
  const numbers = Array.from({ length: size }, (_, rank) => rank);
  const textOf = (from: number, to: number): string => {
    const pair = cells.get(from * ranks + to);
    if (pair === undefined) return '·';
    return known ? bytesText(pair.bytes!) : countText(pair.messages);
  };
  const columns: TextColumn<number>[] = [
    { title: 'rank', unit: 'number', value: (rank) => rank, spare: 0 },
    ...numbers.map((to): TextColumn<number> => {
      return {
        title: String(to),
        unit: 'text',
        align: 'right',
        value: (from) => textOf(from, to),
        spare: to,
      };
    }),
  ];
  yield* tableLines({ columns, rows: numbers, more: ranks - size, what: 'ranks' }, style);
}
