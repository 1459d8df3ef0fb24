import { terminalText } from '../../../core/terminal-text.js';
import { bytesText, countText, durationText, rateText, shareText, timeText } from '../units.js';
import type {
  ErrorType,
  Group,
  LongStall,
  MpiCall,
  MpiRun,
  OpenSpan,
  Report,
  ReportedLoss,
  SlowShare,
  SlowTrace,
  ThreadFigures,
  ThreadInterruption,
  ThreadPlace,
} from '../report-shape.js';
import { causeText, countsText, placeText } from '../interruption-texts.js';
import { errorCountTitle, errorTypeText } from '../error-texts.js';
import { groupTitle, nameWithDetail, nameWithPath } from '../request-name.js';
import { longestWaits, waitNameOf, waitingGroups } from '../wait-texts.js';
import { shortened } from './display-width.js';
import { textTable } from './text-table.js';
import type { Column } from './text-table.js';
import type { TextStyle } from './text-style.js';
import { branches, textTree } from './text-tree.js';
import { wrapped } from './wrapped.js';

/** Rows of the tables. `--json` has all of them. */
const MAX_GROUPS = 40;
const MAX_TREE_ROWS = 30;
const MAX_WAITING = 10;
const MAX_ERROR_TYPES = 10;
const MAX_THREADS = 30;
const MAX_OPEN = 15;
const MAX_LOSSES = 30;
const MAX_INTERRUPTIONS = 20;
const MAX_STALLS = 5;
const MAX_MATRIX_RANKS = 16;

type Lines = Generator<string, void>;

const right = 'right' as const;

function* more(all: number, shown: number, what: string, { paint }: TextStyle): Lines {
  if (all > shown) yield paint('weak', `${countText(all - shown)} more ${what}: see --json`);
}

export function* groupLines(report: Report, style: TextStyle): Lines {
  const { groups, by } = report;
  const hasService = by !== 'service' && groups.some(({ service }) => service !== null);
  const columns: Column<Group>[] = [
    { title: by, spare: 0, least: 16, cell: (group) => groupTitle(group, by) },
    { title: 'count', align: right, spare: 0, cell: ({ count }) => countText(count) },
    { title: 'rate', align: right, spare: 5, cell: ({ rate }) => rateText(rate) },
    {
      title: 'errors',
      align: right,
      spare: 2,
      cell: ({ errors }) => countText(errors),
      role: ({ errors }) => (errors > 0 ? 'bad' : undefined),
    },
    { title: 'p50', align: right, spare: 1, cell: ({ p50 }) => durationText(p50) },
    { title: 'p95', align: right, spare: 0, cell: ({ p95 }) => durationText(p95) },
    { title: 'p99', align: right, spare: 3, cell: ({ p99 }) => durationText(p99) },
    { title: 'max', align: right, spare: 4, cell: ({ max }) => durationText(max) },
    { title: 'total', align: right, spare: 6, cell: ({ total }) => durationText(total) },
    { title: 'share', align: right, spare: 3, cell: ({ share }) => shareText(share) },
  ];
  if (hasService) {
    const cell = ({ service }: Group): string => service ?? '';
    // Of several, it says which one is slow.
    const areSeveral = new Set(groups.map(({ service }) => service)).size > 1;
    columns.splice(1, 0, { title: 'service', spare: areSeveral ? 2 : 7, least: 8, cell });
  }
  yield* textTable(columns, groups.slice(0, MAX_GROUPS), style);
  yield* more(groups.length, MAX_GROUPS, 'groups', style);
  const rates = rateNote(report);
  if (rates !== undefined)
    for (const line of wrapped(rates, style.width)) yield style.paint('weak', line);
}

/** A service that was recorded for less than this part of the time has its own time for rates. */
const WHOLE = 0.9;

/** Whose rates are not of the whole time; undefined: nobody's. */
export function rateNote({ groups, length }: Report): string | undefined {
  const parts = new Map<string, number>();
  for (const { service, count, rate } of groups) {
    const recorded = (count / rate) * 1e9;
    if (recorded < WHOLE * length) parts.set(service ?? 'no service', recorded);
  }
  if (parts.size === 0) return undefined;
  const texts = [...parts].map(([service, recorded]) => `${service} ${durationText(recorded)}`);
  return `Rates are of the time in which the service was recorded: ${texts.join(', ')} of ${durationText(length)}`;
}

/** Why spans failed. */
export function* errorLines({ errors }: Report, style: TextStyle): Lines {
  const { types } = errors;
  const columns: Column<ErrorType>[] = [
    { title: 'type', spare: 0, least: 16, cell: errorTypeText },
    { title: 'span', spare: 0, least: 16, cell: ({ name }) => name },
    {
      title: errorCountTitle(errors),
      align: right,
      spare: 0,
      cell: ({ count }) => countText(count),
    },
  ];
  if (types.some(({ service }) => service !== null)) {
    columns.splice(2, 0, {
      title: 'service',
      spare: 1,
      least: 8,
      cell: ({ service }) => service ?? '',
    });
  }
  yield* textTable(columns, types.slice(0, MAX_ERROR_TYPES), style);
  yield* more(types.length, MAX_ERROR_TYPES, 'types of errors', style);
}

/** What the spans of groups waited for, of those that waited for others. */
export function* groupWaitLines({ groups, by }: Report, style: TextStyle): Lines {
  for (const group of waitingGroups(groups).slice(0, MAX_WAITING)) {
    const { service, sampled, count } = group;
    const title =
      groupTitle(group, by) + (service === null || by === 'service' ? '' : ` of ${service}`);
    const some =
      sampled < count ? ` (estimated from ${countText(sampled)} of ${countText(count)})` : '';
    yield* wrapped(`${title}${some}: ${waitShares(group)}`, style.width);
  }
}

/** `SELECT 71.4 %, itself 20 %`. */
export function waitShares(group: Group): string {
  const parts = longestWaits(group).map((each) => `${waitNameOf(each)} ${shareText(each.share)}`);
  return parts.join(', ');
}

function waitedText(trace: SlowTrace): string {
  const parts = longestWaits(trace).map(
    (each) => `${waitNameOf(each)} ${durationText(each.time)} (${shareText(each.share)})`,
  );
  return `waited for ${parts.join(', ')}`;
}

/** How much of a trace lay within stalls and collections; undefined: nothing. */
export function interruptedText({ duration, stalls, collections }: SlowTrace): string | undefined {
  const parts = [
    { time: stalls, what: 'while the event loop was blocked' },
    { time: collections, what: 'in garbage collections' },
  ].filter(({ time }) => time > 0);
  if (parts.length === 0) return undefined;
  const texts = parts.map(
    ({ time, what }) => `${durationText(time)} (${shareText(time / duration)}) ${what}`,
  );
  return `of this, ${texts.join(' and ')}`;
}

/** What has delayed a trace; undefined: that was not asked for. */
export function delayedText({ delayedBy }: SlowTrace): string | undefined {
  if (delayedBy === null) return undefined;
  const { name, start, duration } = delayedBy;
  const what = `${durationText(duration)} from ${timeText(start)}`;
  return `met ${JSON.stringify(name)} ${placeText(delayedBy)}: ${what}`;
}

export function* traceLines(trace: SlowTrace, number: number, style: TextStyle): Lines {
  const { width, paint } = style;
  const { service, duration, start, traceId, rows, omitted } = trace;
  const title = `${number}. ${nameWithPath(trace)}${service === null ? '' : ` of ${service}`}: ${durationText(duration)}`;
  yield paint('title', shortened(terminalText(title), width));
  const when = `${timeText(start)}${traceId === null ? '' : `, trace ${traceId}`}`;
  for (const line of wrapped(when, width)) yield paint('weak', line);
  const delayed = delayedText(trace);
  if (delayed !== undefined) yield* wrapped(delayed, width);
  if (trace.waitedFor.length > 0) yield* wrapped(waitedText(trace), width);
  const interrupted = interruptedText(trace);
  if (interrupted !== undefined) yield* wrapped(interrupted, width);
  yield* textTree(trace, MAX_TREE_ROWS, style);
  const hidden = rows.slice(MAX_TREE_ROWS).reduce((sum, row) => sum + row.repeated, omitted);
  yield* more(hidden, 0, hidden === 1 ? 'span' : 'spans', style);
}

function pidCell({ pid }: { pid: number | null }): string {
  return pid === null ? '' : String(pid);
}

export function* interruptionLines({ interruptions }: Report, style: TextStyle): Lines {
  const { threads, longest, slow } = interruptions;
  const hasService = threads.some(({ service }) => service !== null);
  const columns: Column<ThreadInterruption>[] = [
    { title: 'what', spare: 0, least: 16, cell: ({ name }) => name },
    ...(hasService
      ? [
          {
            title: 'service',
            spare: 0,
            least: 8,
            cell: ({ service }: ThreadPlace) => service ?? '',
          },
        ]
      : []),
    ...(threads.some(({ pid }) => pid !== null)
      ? [{ title: 'process', align: right, spare: 3, cell: pidCell }]
      : []),
    { title: 'thread', spare: 2, cell: ({ thread }) => thread },
    { title: 'count', align: right, spare: 0, cell: ({ count }) => countText(count) },
    { title: 'total', align: right, spare: 0, cell: ({ total }) => durationText(total) },
    { title: 'longest', align: right, spare: 1, cell: ({ max }) => durationText(max) },
  ];
  yield* textTable(columns, threads.slice(0, MAX_INTERRUPTIONS), style);
  yield* more(threads.length, MAX_INTERRUPTIONS, 'threads', style);
  if (longest.length > 0) {
    yield '';
    yield style.paint('title', 'The longest stalls:');
    for (const stall of longest.slice(0, MAX_STALLS)) yield* stallLines(stall, style);
  }
  const explained = slow.filter(({ either }) => either > 0).slice(0, MAX_GROUPS);
  if (explained.length === 0) {
    const none = 'The slowest 5 % of each group did not meet any of these.';
    if (slow.length > 0) yield* wrapped(none, style.width);
    return;
  }
  yield '';
  yield* wrapped(slowShareText(slow), style.width);
  const shares: Column<SlowShare>[] = [
    { title: 'slowest 5 % of', spare: 0, least: 16, cell: ({ name }) => name },
    { title: 'count', align: right, spare: 1, cell: ({ count }) => countText(count) },
    { title: 'time', align: right, spare: 3, cell: ({ time }) => durationText(time) },
    { title: 'stalls', align: right, spare: 0, cell: (row) => shareText(row.stalls / row.time) },
    { title: 'gc', align: right, spare: 0, cell: (row) => shareText(row.collections / row.time) },
    ...(slow.some(({ called }) => called > 0)
      ? [{ title: 'called', align: right, spare: 0, cell: calledCell }]
      : []),
    { title: 'any', align: right, spare: 2, cell: (row) => shareText(row.either / row.time) },
  ];
  yield* textTable(shares, explained, style);
}

function* stallLines(stall: LongStall, { width }: TextStyle): Lines {
  const { duration, cause, start } = stall;
  const why = causeText(stall);
  const because = why === '' ? '' : cause === null ? `, ${why}` : `, cause ${why}`;
  yield* wrapped(
    `${durationText(duration)} ${placeText(stall)} at ${timeText(start)}${because}`,
    width,
  );
  const { ran, delayed } = stall;
  const texts = [
    ...(ran.length > 0 ? [`ran: ${countsText(ran)}`] : []),
    ...(delayed.length > 0 ? [`delayed: ${countsText(delayed)}`] : []),
  ];
  if (texts.length === 0) texts.push('no span of this thread was open');
  for (const text of texts) {
    for (const line of wrapped(text, width - 2)) yield `  ${line}`;
  }
}

export function calledCell({ called, time }: SlowShare): string {
  return shareText(called / time);
}

/** What the table of slow shares is about. */
export function slowShareText(slow: readonly SlowShare[]): string {
  const own =
    'How much of the time of the slowest 5 % was stalls and garbage collections (gc) of their own thread';
  return slow.some(({ called }) => called > 0)
    ? `${own}, or of the thread of a called service (called):`
    : `${own}:`;
}

export function* threadLines({ threads }: Report, style: TextStyle): Lines {
  const optional = (is: (row: ThreadFigures) => boolean, column: Column<ThreadFigures>) =>
    threads.some(is) ? [column] : [];
  const columns: Column<ThreadFigures>[] = [
    { title: 'thread', spare: 0, least: 12, cell: ({ thread }) => thread },
    ...optional(({ service }) => service !== null, {
      title: 'service',
      spare: 2,
      least: 8,
      cell: ({ service }) => service ?? '',
    }),
    { title: 'process', align: right, spare: 4, cell: pidCell },
    { title: 'kind', spare: 6, cell: ({ kind }) => (kind === 'thread' ? 'spans' : kind) },
    { title: 'records', align: right, spare: 3, cell: ({ spans }) => countText(spans) },
    { title: 'active', align: right, spare: 0, cell: ({ share }) => shareText(share) },
    ...optional(({ utilisation }) => utilisation !== null, {
      title: 'loop busy',
      align: right,
      spare: 1,
      cell: ({ utilisation }) => (utilisation === null ? '' : shareText(utilisation)),
    }),
    ...optional(({ stalls }) => stalls > 0, {
      title: 'stalled',
      align: right,
      spare: 1,
      cell: ({ stalls }) => (stalls > 0 ? durationText(stalls) : ''),
    }),
    ...optional(({ collections }) => collections > 0, {
      title: 'gc',
      align: right,
      spare: 1,
      cell: ({ collections }) => (collections > 0 ? durationText(collections) : ''),
    }),
    { title: 'trace', spare: 5, least: 12, cell: ({ path }) => path },
  ];
  yield* textTable(columns, threads.slice(0, MAX_THREADS), style);
  yield* more(threads.length, MAX_THREADS, 'threads', style);
}

export function* openLines({ open }: Report, style: TextStyle): Lines {
  const shown = open.spans.slice(0, MAX_OPEN);
  const prefixes = branches(shown);
  const columns: Column<{ span: OpenSpan; prefix: string }>[] = [
    { title: 'open for', align: right, spare: 0, cell: ({ span }) => durationText(span.age) },
    {
      title: 'span',
      spare: 0,
      least: 16,
      cell: ({ span, prefix }) => prefix + nameWithDetail(span),
    },
    { title: 'service', spare: 2, least: 8, cell: ({ span }) => span.service ?? '' },
    { title: 'thread', spare: 3, cell: ({ span }) => span.thread },
    { title: 'since', spare: 1, cell: ({ span }) => timeText(span.start) },
    { title: 'trace', spare: 4, cell: ({ span }) => span.traceId ?? '' },
  ];
  yield* textTable(
    columns,
    shown.map((span, at) => ({ span, prefix: prefixes[at]! })),
    style,
  );
  yield* more(open.spans.length + open.omitted, shown.length, 'open spans', style);
}

function bytesCell(bytes: number | null): string {
  return bytes === null ? '' : bytesText(bytes);
}

export function* mpiLines(run: MpiRun, style: TextStyle): Lines {
  const columns: Column<MpiCall>[] = [
    { title: 'call', spare: 0, least: 16, cell: ({ name }) => name },
    { title: 'count', align: right, spare: 0, cell: ({ count }) => countText(count) },
    { title: 'bytes', align: right, spare: 0, cell: ({ bytes }) => bytesCell(bytes) },
    { title: 'total', align: right, spare: 0, cell: ({ total }) => durationText(total) },
    { title: 'p50', align: right, spare: 3, cell: ({ p50 }) => durationText(p50) },
    { title: 'p95', align: right, spare: 2, cell: ({ p95 }) => durationText(p95) },
    { title: 'max', align: right, spare: 1, cell: ({ max }) => durationText(max) },
  ];
  yield* textTable(columns, run.calls.slice(0, MAX_GROUPS), style);
  yield* more(run.calls.length, MAX_GROUPS, 'calls', style);
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
  const columns: Column<number>[] = [
    { title: 'rank', align: right, spare: 0, cell: (rank) => String(rank) },
    ...numbers.map((to): Column<number> => {
      return { title: String(to), align: right, spare: to, cell: (from) => textOf(from, to) };
    }),
  ];
  yield* textTable(columns, numbers, style);
  yield* more(ranks, size, 'ranks', style);
}

export function* lossLines({ losses }: Report, style: TextStyle): Lines {
  const several = new Set(losses.map(({ path }) => path)).size > 1;
  const columns: Column<ReportedLoss>[] = [
    { title: '', spare: 0, least: 40, cell: ({ reason }) => reason, role: () => 'bad' },
    ...(several
      ? [{ title: '', spare: 1, least: 16, cell: ({ path }: ReportedLoss) => path }]
      : []),
  ];
  yield* textTable(columns, losses.slice(0, MAX_LOSSES), style);
  yield* more(losses.length, MAX_LOSSES, 'losses', style);
}
