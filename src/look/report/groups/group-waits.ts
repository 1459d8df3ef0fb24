import { IndexRow, rowsUpward } from '../../index/index-row.js';
import { NO_TRACE } from '../../index/look-index.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import { TargetBudget, nameTargets } from '../names/call-target.js';
import type { BlockedSpans } from '../trees/blocked-spans.js';
import type { CalledThreads } from '../trees/called-threads.js';
import { FlameTally } from './flame.js';
import type { GroupTally, Grouping } from './groups.js';
import type { GroupWaits } from '../shape/report-shape.js';
import type { InterruptionTally } from '../threads/interruptions.js';
import type { RowSelection } from '../measures/selection.js';
import { profileOf } from './request-profile.js';
import type { SampledRequest } from './request-profile.js';
import { SpanFamily, spansOf, waitedTimes } from '../trees/span-family.js';
import { TimeSampler } from '../measures/samples.js';
import { TracesElsewhere } from '../trees/traces-elsewhere.js';
import type { TreeSpan } from '../shape/trace-shape.js';
import { WaitTally } from '../trees/trace-tree.js';
import type { Steps } from '../../index/turns.js';

/** Groups of which it is asked, those with the most time first. */
const MOST_GROUPS = 20;
/** Spans of each that are looked at: of those that met a stall, and of the others. Few of them wait for long. */
const STALLED_SAMPLES = 400;
const SAMPLES = 100;
/** Of these: by time alone, some quick requests would stand for all quick ones. */
const BY_NUMBER = 0.5;
/** From a call up to the requests that waited for it. */
const MOST_ANCESTORS = 32;
/** Rows that are looked at for the spans of one group: long ones overlap many others. */
const MOST_ROWS = 1 << 20;

/** A start that a program says in whole milliseconds seems to be before that of its request. */
const WHOLE_MS = 1.5e6;

/** The spans of a group that were looked at, and what they waited for. */
export interface SampledWaits {
  readonly figures: GroupWaits;
  readonly requests: readonly SampledRequest[];
  readonly flame: FlameTally;
}

const NOTHING: SampledWaits = {
  figures: { sampled: 0, waitedFor: [], blocked: null },
  requests: [],
  flame: new FlameTally(),
};

/** Calls of a group of which it is read whom they have asked. */
const MOST_TARGETS = 500;

/**
 * Finds what the spans of each group waited for, in their process and in those that it called: of all that met a stall
 * and of a hundred others, or of so many of them, taken evenly from their time and number. The time of each belongs to
 * the spans of its critical path.
 */
export function* groupWaits(
  { index }: RowSelection,
  grouping: Grouping,
  interruptions: InterruptionTally,
  called: CalledThreads,
  blocked: BlockedSpans,
): Steps<(tally: GroupTally) => SampledWaits> {
  const wanted = grouping.tallies.slice(0, MOST_GROUPS);
  const waits = new Map(wanted.map((tally) => [tally, new SampledGroup()]));
  const byNumber = Array.from({ length: grouping.size }, (_, number) =>
    waits.get(grouping.tally(number)),
  );
  const isWaiting = yield* waitsForStalls(index, called);
  const stalled = new Map<IndexPart, Uint8Array>();
  for (const part of index.parts) {
    yield;
    const { rows, groups } = grouping.rowsOf(part);
    const { firstRow, duration } = part;
    const isStalled = interruptions.stalledRows(part);
    const marks = new Uint8Array(rows.length);
    stalled.set(part, marks);
    for (let i = 0; i < rows.length; i++) {
      const group = byNumber[groups[i]!];
      if (group === undefined) continue;
      const at = rows[i]!;
      if (isStalled?.(at) === true || (isWaiting.size > 0 && isWaiting.has(firstRow + at)))
        marks[i] = 1;
      group.strata[marks[i]!]!.count(duration[at]!);
    }
  }
  const samples: Sample[] = [];
  for (const [number, part] of index.parts.entries()) {
    yield;
    const isLast = index.parts[number + 1]?.source !== part.source;
    const { rows, groups } = grouping.rowsOf(part);
    const marks = stalled.get(part)!;
    for (let i = 0; i < rows.length; i++) {
      const group = byNumber[groups[i]!];
      if (group === undefined) continue;
      const at = rows[i]!;
      const stratum = group.strata[marks[i]!]!;
      const weight = stratum.weightOf(part.duration[at]!);
      if (weight > 0) samples.push({ group, stratum, part, at, isLast, weight });
    }
  }
  const elsewhere = yield* TracesElsewhere.of(index, samples);
  for (const sample of samples) {
    sample.group.add(index, called, blocked, elsewhere, sample);
    yield;
  }
  return (tally) => waits.get(tally) ?? NOTHING;
}

/** Rows above the calls that met a stall of the thread that they called. */
function* waitsForStalls(index: LookIndex, called: CalledThreads): Steps<Set<number>> {
  const waiting = new Set<number>();
  for (const call of called.rows) {
    yield;
    if (!called.pausesDuring(call).some(({ kind }) => kind === 'stall')) continue;
    for (const { row } of rowsUpward(index, call, MOST_ANCESTORS)) waiting.add(row);
  }
  return waiting;
}

/** A span of a group that is looked at. */
interface Sample {
  part: IndexPart;
  at: number;
  group: SampledGroup;
  stratum: Stratum;
  /** Whether its part is the last one of its source. */
  isLast: boolean;
  /** How often the sampler counts it. */
  weight: number;
}

/** The spans of a group that met a stall, or the others. Those that are looked at stand for their number and time. */
class Stratum {
  looked = 0;
  /** Whether one that was looked at was blocked by others. */
  hasBlocked = false;
  readonly #most: number;
  readonly #all = { count: 0, total: 0 };
  readonly #taken = { count: 0, total: 0 };
  #sampler: TimeSampler | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  count(duration: number): void {
    this.#all.count += 1;
    this.#all.total += duration;
  }

  /** How often the next span counts, once all are counted; 0: it is not looked at. */
  weightOf(duration: number): number {
    this.#sampler ??= new TimeSampler(this.#all, this.#most, BY_NUMBER);
    const weight = this.#sampler.weightOf(duration);
    this.#taken.count += weight;
    this.#taken.total += weight * duration;
    return weight;
  }

  /** Makes the weights of those that were taken add up to all spans, and to the time of all. */
  get scale(): { count: number; time: number } {
    const [all, taken] = [this.#all, this.#taken];
    return {
      count: all.count / taken.count,
      time: taken.total === 0 ? 0 : all.total / taken.total,
    };
  }

  get isWhole(): boolean {
    return this.looked === this.#all.count;
  }
}

class SampledGroup implements SampledWaits {
  readonly requests: SampledRequest[] = [];
  readonly flame = new FlameTally();
  /** The spans that met no stall, and those that met one. */
  readonly strata = [new Stratum(SAMPLES), new Stratum(STALLED_SAMPLES)] as const;
  readonly #waits = new WaitTally();
  readonly #targets = new TargetBudget(MOST_TARGETS);
  #rows = 0;

  add(
    index: LookIndex,
    called: CalledThreads,
    blocked: BlockedSpans,
    elsewhere: TracesElsewhere,
    { part, at, stratum, isLast, weight }: Sample,
  ): void {
    if (this.#rows >= MOST_ROWS) return;
    const { found, looked, isCut } = rowsWithin(part, at);
    this.#rows += looked;
    // The rest of it may be in another part.
    if (isCut && !isLast) return;
    const own = found.length;
    for (const row of elsewhere.overlapping(new IndexRow(part, at), index)) found.push(row);
    this.#rows += found.length - own;
    const spans = spansOf(index, found);
    called.addPauses(found, spans);
    blocked.addTo(found, spans);
    const waited = waitedTimes(spans, new SpanFamily(spans), 0);
    nameTargets(index, found, spans, this.#targets, (at) => waited[at]! > 0);
    const { count, time } = stratum.scale;
    this.#waits.add(spans, waited, 0, weight * time);
    this.flame.add(spans, waited, weight * count, weight * time);
    this.requests.push(profileOf(index, found, own, spans, waited, weight * count));
    stratum.looked += 1;
    stratum.hasBlocked ||= spans.some((span, i) => waited[i]! > 0 && isBlocked(span));
  }

  get figures(): GroupWaits {
    const [free, stalled] = this.strata;
    const sampled = free.looked + stalled.looked;
    // Without a stall nobody waits for one, unless an example shows that clocks are not that exact.
    const isEstimate = !stalled.isWhole || (free.hasBlocked && !free.isWhole);
    const share = this.#waits.shareOf(isBlocked);
    const blocked = sampled === 0 ? null : { share, isEstimate };
    return { sampled, waitedFor: this.#waits.longest, blocked };
  }
}

/** Whether it is time in which others kept an event loop. */
function isBlocked({ kind }: Pick<TreeSpan, 'kind'>): boolean {
  return kind === 'blocked' || kind === 'stall';
}

/** The row and those of its trace that begin within it, as far as the part has them. */
function rowsWithin(
  { firstRow, count, start, duration, trace }: IndexPart,
  at: number,
): { found: number[]; looked: number; isCut: boolean } {
  const found = [firstRow + at];
  const own = trace[at]!;
  if (own === NO_TRACE) return { found, looked: 1, isCut: false };
  const end = start[at]! + duration[at]!;
  let next = at + 1;
  for (; next < count && start[next]! < end; next++) {
    if (trace[next] === own) found.push(firstRow + next);
  }
  let before = at - 1;
  for (; before >= 0 && start[before]! > start[at]! - WHOLE_MS; before--) {
    if (trace[before] === own) found.push(firstRow + before);
  }
  return { found, looked: next - before, isCut: next === count };
}
