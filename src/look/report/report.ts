import { TracewrightError } from '../../core/errors.js';
import type { Condition, LookIndex, StoredColumn } from '../index/look-index.js';
import { CalledThreads } from './called-threads.js';
import { callsOutside } from './calls-outside.js';
import { completenessOf } from './completeness.js';
import { diskCost } from './disk-cost.js';
import { earlierAndLater } from './earlier-and-later.js';
import { errorTypes, selectionBefore } from './error-types.js';
import { Grouping, groupFigures, hasRequests } from './groups.js';
import type { PartsReady } from './groups.js';
import { groupWaits } from './group-waits.js';
import { InterruptionTally } from './interruptions.js';
import { isoTime } from './iso-time.js';
import { longStalls } from './long-stalls.js';
import { mpiRuns } from './mpi.js';
import { openSpans } from './open-spans.js';
import { groupPictures, timelineOf } from './pictures.js';
import { poolWaits } from './pool-waits.js';
import { REPORT_VERSION } from './report-shape.js';
import type { GroupBy, GroupPicture, Report, ReportSource, ReportedLoss } from './report-shape.js';
import { ProcessStarts } from './process-starts.js';
import { RecordedTimes } from './recorded-times.js';
import { RowSelection, endOf } from './selection.js';
import type { TimeWindow } from './selection.js';
import { Sampling } from './sampling.js';
import { slowShares } from './slow-shares.js';
import { slowTraces } from './slow-traces.js';
import { threadFigures } from './threads.js';
import { unknownAttributes } from './unknown-attributes.js';
import { servicesWithoutContext } from './without-context.js';
import { releasedIn } from '../../spans/read/released-requests.js';
import { inTurns } from '../index/turns.js';
import type { Steps } from '../index/turns.js';

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
  /** Groups of which pictures are wanted: none unless set. */
  pictures?: number;
}

/** A report, what its pictures need beyond the figures, and where its spans are in the index. */
export interface IllustratedReport {
  report: Report;
  pictures: GroupPicture[];
  rows: ReportedRows;
}

/** Rows of the index that a report names. */
export interface ReportedRows {
  /** By place in `open.spans`. */
  open: readonly number[];
  /** By place in `interruptions.threads`: the longest one. */
  threads: readonly number[];
  /** By place in `interruptions.longest`. */
  stalls: readonly number[];
}

const DEFAULT_SLOWEST = 5;

function sourcesOf(
  { sources, parts, epoch }: LookIndex,
  times: RecordedTimes,
  sampling: Sampling,
  window: TimeWindow,
): ReportSource[] {
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
      clockOffset,
      clockError,
      deleted,
      until,
    } = source;
    return {
      path,
      format,
      service: service ?? null,
      host: host ?? null,
      pid: pid ?? null,
      state,
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

/** What a report reads of every part, in the order in which it is used. */
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
];

/** Reads the columns of the parts within the window, some while others are counted. */
function readAhead({ parts }: LookIndex, selection: RowSelection): PartsReady {
  const wanted = parts.filter((part) => selection.mayHave(part));
  const places = new Map(wanted.map((part, place) => [part, place]));
  const reading: Promise<void>[] = [];
  return (part) => {
    const place = places.get(part)!;
    for (const next of wanted.slice(reading.length, place + 1 + PARTS_AHEAD)) {
      reading.push(next.load(COLUMNS));
    }
    return reading[place];
  };
}

/** Answers from an index which operations were slow and why, and what is missing. */
export async function makeReport(
  index: LookIndex,
  options: ReportOptions = {},
): Promise<IllustratedReport> {
  const { condition = {}, exact = false, attributes = [] } = options;
  const selection = await RowSelection.of(index, condition);
  const ready = readAhead(index, selection);
  const requests = await hasRequests(selection, ready);
  const usual = requests ? 'route' : 'name';
  const by = attributes.length > 0 ? 'attribute' : (options.by ?? usual);
  const grouping = new Grouping(selection, by, requests, exact, attributes);
  await grouping.count(ready);
  const notKept = isWhole(condition) && attributes.length === 0 ? addReleased(index, grouping) : 0;
  const before = await selectionBefore(selection, condition);
  return inTurns(figureSteps(selection, before, grouping, notKept, options));
}

/** Whether a condition selects everything. */
function isWhole(condition: object): boolean {
  return Object.values(condition).every(
    (each) => each === undefined || (Array.isArray(each) && each.length === 0),
  );
}

/** Adds the requests that were not kept to the groups, and returns how many there are. */
function addReleased({ sources }: LookIndex, grouping: Grouping): number {
  let count = 0;
  for (const { format, path, service } of sources) {
    if (format !== 'Heph') continue;
    try {
      for (const released of releasedIn(path)) {
        grouping.addReleased(released, service, path);
        count += released.count;
      }
    } catch (error) {
      // The index names what cannot be read.
      if (!(error instanceof TracewrightError)) throw error;
    }
  }
  return count;
}

function* figureSteps(
  selection: RowSelection,
  before: RowSelection | undefined,
  grouping: Grouping,
  notKept: number,
  { condition = {}, slowest = DEFAULT_SLOWEST, exact = false, pictures = 0 }: ReportOptions,
): Steps<IllustratedReport> {
  const { index } = selection;
  const { by } = grouping;
  const times = yield* RecordedTimes.of(index);
  const sampling = yield* Sampling.of(index);
  const starts = yield* ProcessStarts.of(index, times);
  const interruptions = yield* InterruptionTally.of(selection, starts);
  const { from, to } = selection.window;
  const end = Math.min(to, endOf(index));
  const length = Math.max(1, end - from);
  const called = yield* CalledThreads.of(selection, interruptions);
  const waitsOf = yield* groupWaits(selection, grouping, called);
  const { open, rows } = yield* openSpans(selection);
  const threads = [...interruptions.threads('stall'), ...interruptions.threads('collection')];
  const report: Report = {
    version: REPORT_VERSION,
    from: isoTime(index.epoch, from),
    to: isoTime(index.epoch, end),
    length,
    by,
    attributes: grouping.attributes,
    outside: callsOutside(selection),
    exact,
    notKept,
    sources: sourcesOf(index, times, sampling, selection.window),
    recordedTwice: earlierAndLater(index, times),
    unknownAttributes: grouping.tallies.length > 0 ? [] : unknownAttributes(index, condition),
    withoutContext: yield* servicesWithoutContext(index),
    groups: groupFigures(
      grouping.tallies,
      ({ service }) => times.ofService(service, selection.window),
      (tally) => sampling.weightOf(tally),
      waitsOf,
    ),
    errors: yield* errorTypes(selection, before),
    pools: yield* poolWaits(selection),
    ...(yield* slowTraces(selection, grouping, interruptions, called, slowest)),
    interruptions: {
      stalls: interruptions.list('stall'),
      collections: interruptions.list('collection'),
      threads: threads.map(({ figures }) => figures),
      longest: yield* longStalls(selection, interruptions, called),
      slow: yield* slowShares(selection, grouping, interruptions, called),
    },
    threads: yield* threadFigures(selection, interruptions, times),
    open,
    completeness: yield* completenessOf(selection),
    mpi: mpiRuns(selection, exact),
    losses: lossesOf(index),
    timeline: yield* timelineOf(selection, grouping),
    cost: yield* diskCost(selection, times),
  };
  return {
    report,
    rows: {
      open: rows,
      threads: threads.map(({ row }) => row),
      stalls: interruptions.longestStalls.map(({ part, at }) => part.firstRow + at),
    },
    pictures: yield* groupPictures(selection, grouping, pictures),
  };
}
