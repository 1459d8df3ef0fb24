import { isRequest, rowAt } from '../index/index-row.js';
import type { Condition, LookIndex, Source, StoredColumn } from '../index/look-index.js';
import { BlockedSpans } from './trees/blocked-spans.js';
import { CalledThreads } from './trees/called-threads.js';
import { completenessOf } from './recording/completeness.js';
import { diskCost } from './recording/disk-cost.js';
import { earlierAndLater } from './recording/recording-sides.js';
import { errorTypes, selectionBefore, withCauseRows } from './errors/error-types.js';
import { Grouping, groupFigures, hasRequests } from './groups/groups.js';
import type { PartsReady } from './groups/groups.js';
import { FindingWindow } from './findings/evidence.js';
import { findingsOf } from './findings/rules.js';
import { calleesOf, callsPerRequest } from './groups/callees.js';
import { examplesOf, type GroupExamples } from './groups/examples.js';
import { refusedRequests } from './groups/refused-requests.js';
import { groupWaits } from './groups/group-waits.js';
import { InterruptionTally } from './threads/interruptions.js';
import { isoTime } from './measures/units.js';
import { delayedRequests } from './slow/delayed-requests.js';
import { longStalls } from './slow/delayed-spans.js';
import { mpiRuns } from './mpi/mpi.js';
import { openSpans } from './trees/open-spans.js';
import { timelineOf } from './groups/timeline.js';
import { poolWaits } from './groups/pool-waits.js';
import { REPORT_VERSION } from './shape/report-shape.js';
import type {
  FlameNode,
  GroupBy,
  Report,
  ReportSource,
  ReportedLoss,
} from './shape/report-shape.js';
import { addReleased, servicesWithLostCounts } from './groups/released-groups.js';
import type { NotKept } from './groups/released-groups.js';
import { ProcessStarts, RecordedTimes } from './recording/recorded-times.js';
import { memoryEnds } from './recording/memory-ends.js';
import { Processes } from './recording/processes.js';
import { RowSelection, endOf } from './measures/selection.js';
import type { TimeWindow } from './measures/selection.js';
import { Sampling } from './recording/sampling.js';
import { serviceRuns } from './recording/service-runs.js';
import { memoryCurves } from './threads/memory.js';
import { allocations } from './threads/allocations.js';
import { profiledCode } from './threads/profiled-code.js';
import { sampledCalls } from './groups/sampled-calls.js';
import { requestsOfSamples } from './threads/sampled-requests.js';
import { stallsByLine } from './threads/stall-code.js';
import { slowShares } from './slow/slow-shares.js';
import { slowTraces } from './slow/slow-traces.js';
import { threadFigures } from './threads/threads.js';
import { TimeWithoutCpu } from './threads/time-without-cpu.js';
import { unknownAttributes } from './names/unknown-attributes.js';
import { inTurns } from '../index/turns.js';
import type { Steps } from '../index/turns.js';
import { CALLS_OUTSIDE, TIME_OUTSIDE } from '../../spans/read/loop-curves.js';

/** The calls of libraries outside of spans, of the seconds that overlap the window. */
function callsOutside({ index, window: { from, to } }: RowSelection): Report['outside'] {
  const sumOf = (wanted: string): number => {
    let sum = 0;
    for (const counter of index.counters) {
      if (counter.name !== wanted) continue;
      // Points of other curves are made when they are asked for.
      const { times, values } = counter;
      for (let at = 0; at + 1 < times.length; at++) {
        if (times[at + 1]! > from && times[at]! < to) sum += values[at]!;
      }
    }
    return sum;
  };
  return { count: sumOf(CALLS_OUTSIDE), time: sumOf(TIME_OUTSIDE) };
}

/** Services, or else paths, whose requests have no context. */
function* servicesWithoutContext({ sources, parts }: LookIndex): Steps<string[]> {
  const found = new Set<string>();
  for (const { number, service, path, withoutContext } of sources) {
    if (!withoutContext) continue;
    for (const { source, flags, count } of parts) {
      if (source.number !== number) continue;
      yield;
      if (!flags.subarray(0, count).some(isRequest)) continue;
      found.add(service ?? path);
      break;
    }
  }
  return [...found];
}

export interface ReportOptions {
  /** Default: `route` if there are requests, else `name`. */
  by?: Exclude<GroupBy, 'attribute'> | undefined;
  /** Group by the values of these, and leave out spans that have none of them. */
  attributes?: readonly string[] | undefined;
  condition?: Condition;
  /** Traces that are shown: 5 unless set. */
  slowest?: number;
  /** Percentiles of all durations, instead of histograms. */
  exact?: boolean;
  /** Whether a closer look at the first group is wanted. */
  closer?: boolean;
}

/** The details of a single group. */
interface CloserLook {
  flame: FlameNode[];
  /** Code that ran for its requests, by samples; empty: they are too few. */
  code: FlameNode[];
  examples: GroupExamples;
}

/** A report, and where its spans are in the index. */
export interface ReportWithRows {
  report: Report;
  rows: ReportedRows;
  /** Undefined: it is not wanted, or there is no group. */
  closer?: CloserLook | undefined;
}

/** Rows of the index that a report names. */
interface ReportedRows {
  /** By number in `slowest`. */
  slowest: readonly number[];
  /** By number in `open.spans`. */
  open: readonly number[];
  /** By number in `interruptions.threads`: the longest one. */
  threads: readonly number[];
  /** By number in `interruptions.longest`. */
  stalls: readonly number[];
}

/** Traces that are shown unless set. */
export const DEFAULT_SLOWEST = 5;

function sourcesOf(
  index: LookIndex,
  sources: readonly Source[],
  times: RecordedTimes,
  sampling: Sampling,
  window: TimeWindow,
): ReportSource[] {
  const { parts, epoch } = index;
  const processes = new Processes(index);
  const ends = memoryEnds(index, (number) => times.ofSource(number).end);
  const rows = new Map<number, number>();
  for (const { source, count } of parts) {
    rows.set(source.number, (rows.get(source.number) ?? 0) + count);
  }
  return sources.map((source) => {
    const {
      number,
      path,
      format,
      service,
      host,
      pid,
      state,
      heapLimit,
      clockOffset,
      clockError,
      deleted,
      until,
    } = source;
    return {
      path,
      process: processes.onlyOf(number),
      format,
      service: service ?? null,
      host: host ?? null,
      pid: pid ?? null,
      state,
      heapLimit: heapLimit ?? null,
      memoryEnd: ends.get(number) ?? null,
      recorded: times.within(number, window),
      until: until === undefined ? null : isoTime(epoch, until),
      sampled: sampling.of(number),
      deleted: deleted === undefined ? null : { pieces: deleted.pieces, records: deleted.records },
      rows: rows.get(number) ?? 0,
      clockOffset: Number(clockOffset),
      clockError: clockError ?? null,
    };
  });
}

function lossesOf({ sources, unread }: LookIndex): ReportedLoss[] {
  const lost = sources.flatMap(({ path, losses }) =>
    losses.filter(({ isUnreadable }) => isUnreadable !== true).map((loss) => ({ path, ...loss })),
  );
  return [...unread, ...lost].map(({ path, count, reason, isUnreadable = false }) => ({
    path,
    count: count ?? null,
    reason,
    unreadable: isUnreadable,
  }));
}

/** All at once would keep the threads from the work that counts them. */
const PARTS_AHEAD = 2;

/** The columns that a report reads of every part, in the order in which it uses them. */
const COLUMNS: readonly StoredColumn[] = [
  'start',
  'duration',
  'track',
  'flags',
  'name',
  'route',
  'trace',
  'traceIds',
  'missing',
  'parent',
  'recordOffset',
];

/** Reads the columns of the parts within the window, some while others are counted. */
function readAhead({ parts }: LookIndex, selection: RowSelection): PartsReady {
  const wanted = parts.filter((part) => selection.mayHave(part));
  const numbers = new Map(wanted.map((part, number) => [part, number]));
  const reading: Promise<void>[] = [];
  return (part) => {
    const number = numbers.get(part)!;
    for (const next of wanted.slice(reading.length, number + 1 + PARTS_AHEAD)) {
      reading.push(next.load(COLUMNS));
    }
    return reading[number];
  };
}

/** Answers from an index which operations were slow and why, and what is missing. */
export async function makeReport(
  index: LookIndex,
  options: ReportOptions = {},
): Promise<ReportWithRows> {
  const { exact = false, attributes = [] } = options;
  const condition = await withCauseRows(index, options.condition ?? {});
  const selection = await RowSelection.of(index, condition);
  const ready = readAhead(index, selection);
  const requests = await hasRequests(selection, ready);
  const usual = requests ? 'route' : 'name';
  const by = attributes.length > 0 ? 'attribute' : (options.by ?? usual);
  const grouping = new Grouping(selection, by, requests, exact, attributes);
  await grouping.count(ready);
  const notKept =
    attributes.length === 0 ? addReleased(index, condition, grouping) : { count: 0, limited: 0 };
  const before = await selectionBefore(selection, condition);
  return inTurns(figureSteps(selection, before, grouping, notKept, options));
}

function* figureSteps(
  selection: RowSelection,
  before: RowSelection | undefined,
  grouping: Grouping,
  notKept: NotKept,
  { condition = {}, slowest = DEFAULT_SLOWEST, exact = false, closer = false }: ReportOptions,
): Steps<ReportWithRows> {
  const { index } = selection;
  const { by } = grouping;
  const times = new RecordedTimes(index);
  const sampling = yield* Sampling.of(index);
  const starts = yield* ProcessStarts.of(index, times);
  const interruptions = yield* InterruptionTally.of(selection, starts);
  const { from, to } = selection.window;
  const end = Math.min(to, endOf(index));
  const length = Math.max(1, end - from);
  const isWhole = condition.from === undefined && condition.to === undefined;
  const sources = index.sources.filter(
    ({ number }) => isWhole || times.overlaps(number, selection.window),
  );
  const called = yield* CalledThreads.of(selection, interruptions);
  const blocked = new BlockedSpans(index, interruptions);
  const waitsOf = yield* groupWaits(selection, grouping, interruptions, called, blocked);
  const { open, rows } = yield* openSpans(selection);
  const asked = [...(condition.attributes ?? []).map(({ name }) => name), ...grouping.attributes];
  const threads = [...interruptions.threads('stall'), ...interruptions.threads('collection')];
  const { rows: slowRows, ...slow } = yield* slowTraces(
    selection,
    grouping,
    interruptions,
    called,
    blocked,
    slowest,
  );
  const refused = yield* refusedRequests(selection, grouping);
  const groups = groupFigures(
    grouping.tallies,
    ({ service }) => times.ofService(service, selection.window),
    (tally) => sampling.weightOf(tally),
    (tally) => {
      const { figures, requests } = waitsOf(tally);
      return { ...figures, calls: callsPerRequest({ requests }), refused: refused.share(tally) };
    },
  );
  const sampled = grouping.tallies.map((tally, at) => ({
    group: groups[at]!,
    requests: waitsOf(tally).requests,
    has: (row: number): boolean => {
      const { part, at: own } = rowAt(index, row);
      return grouping.tallyAt(part, own) === tally;
    },
  }));
  const routes = by === 'route' ? sampled : [];
  const { errors, failedCalls } = yield* errorTypes(selection, before);
  const { lines, stalls: stallsOfLines } = stallsByLine(index, interruptions);
  const delayed = yield* delayedRequests(selection, interruptions, stallsOfLines);
  const profiles = [...index.profiles()];
  const requestOf = yield* requestsOfSamples(index, profiles);
  const figures: Omit<Report, 'findings'> = {
    version: REPORT_VERSION,
    from: isoTime(index.epoch, from),
    to: isoTime(index.epoch, end),
    length,
    by,
    attributes: grouping.attributes,
    outside: callsOutside(selection),
    exact,
    notKept: notKept.count,
    aboveLimit: notKept.limited,
    lostCounts: servicesWithLostCounts(index, (source) => times.ofSource(source).end),
    sources: sourcesOf(index, sources, times, sampling, selection.window),
    recordedTwice: earlierAndLater({ sources }, times),
    runs: serviceRuns({ sources }, times),
    unknownAttributes: grouping.tallies.length > 0 ? [] : unknownAttributes(index, asked),
    withoutContext: yield* servicesWithoutContext(index),
    groups,
    callees: calleesOf(routes),
    errors,
    pools: yield* poolWaits(selection),
    ...slow,
    interruptions: {
      stalls: interruptions.list('stall'),
      collections: interruptions.list('collection'),
      threads: threads.map(({ figures }) => figures),
      lines: lines.map((line, at) => ({ ...line, ...delayed[at]! })),
      longest: yield* longStalls(selection, interruptions, called),
      slow: yield* slowShares(selection, grouping, interruptions, called),
    },
    threads: yield* threadFigures(selection, interruptions, times),
    profile: yield* profiledCode(selection, profiles, requestOf),
    allocations: allocations(selection, profiles),
    memory: memoryCurves(selection),
    open,
    completeness: yield* completenessOf(selection),
    mpi: mpiRuns(selection, exact),
    losses: lossesOf(index),
    timeline: yield* timelineOf(selection, grouping, refused.pieces),
    cost: yield* diskCost(selection, times, grouping.requests),
  };
  const window = new FindingWindow(index, { from, to: end });
  const first = closer ? grouping.tallies[0] : undefined;
  const findings = findingsOf({
    index,
    selection,
    report: figures,
    window,
    routes,
    failedCalls,
    interruptions,
    withoutCpu: new TimeWithoutCpu(index, interruptions),
    stallsOfLines,
  });
  return {
    report: { ...figures, findings },
    rows: {
      slowest: slowRows,
      open: rows,
      threads: threads.map(({ row }) => row),
      stalls: interruptions.longestStalls.map(({ row }) => row.row),
    },
    closer: first && {
      flame: waitsOf(first).flame.nodes,
      code: yield* sampledCalls(selection, profiles, requestOf, first),
      examples: yield* examplesOf(selection, grouping, first, interruptions),
    },
  };
}
