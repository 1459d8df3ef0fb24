import { counted } from '../../../core/readable-text.js';
import { hasEnoughRequests, LEAST_REQUESTS, LEAST_TIME } from '../measures/enough-requests.js';
import type { SourceState } from '../../index/look-index.js';
import type { Group, Report, ReportSource } from '../shape/report-shape.js';
import { nameWithTarget, ofService } from '../names/request-name.js';
import type { PoolHolder, SlowTrace, WaitedFor } from '../shape/trace-shape.js';
import { bytesText, countText, durationText, shareText } from '../measures/units.js';

/** Title of the traces. */
export function tracesTitle({ slowestOf }: Report): string {
  return slowestOf === 'delayed' ? 'Slowest traces that these delayed' : 'Slowest traces';
}

/** Why there are no traces. */
export const NOTHING_DELAYED =
  'No trace is shown: no other span was open on these threads meanwhile, as far as it was recorded.';

/** The sentence on incomplete traces; undefined: there are none. */
export function incompleteText({ completeness }: Report): string | undefined {
  const { incompleteTraces, missingParents, begunBefore } = completeness;
  const missing = counted(missingParents, 'span has a parent', 'spans have a parent');
  const begun = counted(begunBefore, 'span', 'spans');
  const reasons = [
    ...(missingParents > 0 ? [`${missing} that is not in the recording`] : []),
    ...(begunBefore > 0 ? [`${begun} began before what is left of the recording`] : []),
  ];
  if (reasons.length === 0) return undefined;
  const traces = counted(incompleteTraces, 'trace is', 'traces are');
  return `${traces} incomplete: ${reasons.join(', ')}`;
}

/** The line on what the traces take on disk. */
export function costText({ cost: { bytes, perRequest, perDay } }: Report): string {
  const texts = [
    `${bytesText(bytes)} on disk`,
    ...(perRequest === null ? [] : [`${bytesText(perRequest)} a request`]),
    ...(perDay === null ? [] : [`${bytesText(perDay)} a day at this rate`]),
  ];
  return texts.join(', ');
}

/** How much was read, in a line. */
export function summaryText({ completeness, sources, length, outside }: Report): string {
  const { spans, traces } = completeness;
  const records = sources.reduce((sum, { rows }) => sum + rows, 0);
  const what =
    spans === 0
      ? counted(records, 'record')
      : `${counted(spans, 'span')}${traces === 0 ? '' : ` in ${counted(traces, 'trace')}`}`;
  const read = `${what} in ${durationText(length)}, from ${counted(sources.length, 'recording')}`;
  if (outside.count === 0) return read;
  const calls = counted(outside.count, 'call of a library', 'calls of libraries');
  return `${read}; ${calls} outside any span, ${durationText(outside.time)} together`;
}

/** Why there is no finding, of a recording with routes. */
export function noFindingText(report: Report): string {
  return hasEnoughRequests(report)
    ? 'no rule has fired.'
    : `the rules need ${durationText(LEAST_TIME)} and ${LEAST_REQUESTS} requests.`;
}

/** How the process of a recording has ended. docs/report.md explains the words. */
export const STATE_TEXTS: Readonly<Record<SourceState, string>> = {
  ended: 'ended',
  growing: 'running',
  died: 'was killed',
  unfinished: 'ended with open spans',
};

/** Empty if there is nothing special, so that a column of it can be left out. */
export function unusualStateText(state: SourceState): string {
  return state === 'ended' ? '' : STATE_TEXTS[state];
}

/** The same of a recording: whose process ran out of heap was killed by V8. */
export function endText({
  state,
  heapLimit,
  memoryEnd,
}: Pick<ReportSource, 'state' | 'heapLimit' | 'memoryEnd'>): string {
  if (heapLimit !== null) return `ran out of heap (limit ${countText(heapLimit)} MB)`;
  if (memoryEnd === null) return unusualStateText(state);
  const { limit, share, isKilled } = memoryEnd;
  if (!isKilled) return `was killed; its memory was at ${shareText(share!)} of its limit`;
  return `was killed for want of memory${limit === null ? '' : ` (limit ${bytesText(limit)})`}`;
}

/** The least share of the time that is named. */
const LEAST_SHARE = 0.005;

/** Leaves out waits of less than `LEAST_SHARE`, except the longest. */
function longestWaits({ waitedFor }: { waitedFor: readonly WaitedFor[] }): WaitedFor[] {
  return waitedFor.filter(({ share }, at) => at === 0 || share >= LEAST_SHARE);
}

/** Words for the pauses of a called thread before its request begins. */
export const PAUSE_TEXTS = {
  stall: 'blocked event loop',
  collection: 'garbage collection',
} as const;

/** `UPDATE ledger in billing`, if another service than the waiting one did it; of a pause, whose event loop it was. */
export function waitName(waited: WaitedFor, waiting: string | null): string {
  const { kind, service, isItself } = waited;
  if (kind === 'stall' || kind === 'collection') return `${PAUSE_TEXTS[kind]}${ofService(service)}`;
  if (isItself) return 'own time';
  const isElsewhere = service !== null && service !== waiting;
  return `${nameWithTarget(waited)}${isElsewhere ? ` in ${service}` : ''}`;
}

/** Those whose spans waited for anything but themselves. */
export function waitingGroups(groups: readonly Group[]): Group[] {
  return groups.filter(({ waitedFor }) => waitedFor.some(({ isItself }) => !isItself));
}

/** `SELECT 71.4 %, own time 20 %`. */
export function waitShares(waiting: {
  service: string | null;
  waitedFor: readonly WaitedFor[];
}): string {
  const parts = longestWaits(waiting).map(
    (each) => `${waitName(each, waiting.service)} ${shareText(each.share)}`,
  );
  return parts.join(', ');
}

/** `waited for SELECT 71.4 ms (58.2 %), own time 20 ms (16.3 %)`; undefined: for nothing. */
export function waitedText(trace: SlowTrace): string | undefined {
  if (trace.waitedFor.length === 0) return undefined;
  const textOf = (each: WaitedFor): string =>
    `${waitName(each, trace.service)} ${durationText(each.time)} (${shareText(each.share)})`;
  const waits = longestWaits(trace);
  const others = waits.filter(({ kind, isItself }) => kind !== 'blocked' && !isItself).map(textOf);
  return [
    ...waits.filter(({ kind }) => kind === 'blocked').map(textOf),
    ...(others.length === 0 ? [] : [`waited for ${others.join(', ')}`]),
    // That is no wait.
    ...waits.filter(({ isItself }) => isItself).map(textOf),
  ].join(', ');
}

/** Digits of a trace's id by which it is found. */
export const PREFIX = 8;
/** Waits for pools that are explained. */
const MOST_HELD = 5;

/** Who had the connections that a trace waited for, the longest waits first. */
export function heldTexts({ rows }: SlowTrace): string[] {
  const waits = rows.flatMap(({ heldBy, name, duration, repeated }) =>
    heldBy === null ? [] : [{ heldBy, name, duration, repeated }],
  );
  return waits
    .sort((a, b) => b.duration - a.duration)
    .slice(0, MOST_HELD)
    .map(({ heldBy, name, duration, repeated }) => {
      const waited = repeated > 1 ? `the longest of ${repeated} waits` : durationText(duration);
      return `${name}, ${waited}: held by ${holdersText(heldBy)}`;
    });
}

/** `POST /buy (trace 4f2ac3d4) 5 ms, before by GET /export (trace 9b01c5aa) 120 ms` */
function holdersText(last: PoolHolder): string {
  const { before } = last;
  return `${holderText(last)}${before === null ? '' : `, before by ${holdersText(before)}`}`;
}

/** The name of a request that is in no recording. */
export const NOT_RECORDED = 'what is not recorded';

/** `POST /checkout (trace 4f2ac3d4) 1.2 s` */
export function holderText({ name, traceId, time }: PoolHolder): string {
  return `${name ?? NOT_RECORDED} (trace ${traceId.slice(0, PREFIX)}) ${durationText(time)}`;
}
