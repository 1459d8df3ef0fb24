import { IndexRow } from '../../index/index-row.js';
import { NO_TRACE } from '../../index/look-index.js';
import type { IndexPart, LookIndex } from '../../index/look-index.js';
import { TargetBudget, nameTargets } from '../names/call-target.js';
import type { BlockedSpans } from '../trees/blocked-spans.js';
import type { CalledThreads } from '../trees/called-threads.js';
import { FlameTally } from './flame.js';
import type { GroupTally, Grouping } from './groups.js';
import type { GroupWaits } from '../shape/report-shape.js';
import type { RowSelection } from '../measures/selection.js';
import { profileOf } from './request-profile.js';
import type { SampledRequest } from './request-profile.js';
import { SpanFamily, spansOf, waitedTimes } from '../trees/span-family.js';
import { TimeSampler } from '../measures/samples.js';
import { TracesElsewhere } from '../trees/traces-elsewhere.js';
import { WaitTally } from '../trees/trace-tree.js';
import type { Steps } from '../../index/turns.js';

/** Groups of which it is asked, those with the most time first, and spans of each that are looked at. */
const MOST_GROUPS = 20;
const SAMPLES = 100;
/** Of these: by time alone, some quick requests would stand for all quick ones. */
const BY_NUMBER = 0.5;
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
  figures: { sampled: 0, waitedFor: [] },
  requests: [],
  flame: new FlameTally(),
};

/** Calls of a group of which it is read whom they have asked. */
const MOST_TARGETS = 500;

/**
 * Finds what the spans of each group waited for, in their process and in those that it called: of up to a hundred of
 * them, taken evenly from their time, so that a few long ones count as much as they should. The time of each belongs
 * to the spans of its critical path.
 */
export function* groupWaits(
  { index }: RowSelection,
  grouping: Grouping,
  called: CalledThreads,
  blocked: BlockedSpans,
): Steps<(tally: GroupTally) => SampledWaits> {
  const wanted = grouping.tallies.slice(0, MOST_GROUPS);
  const waits = new Map(wanted.map((tally) => [tally, new SampledGroup(tally)]));
  const byNumber: (SampledGroup | null)[] = [];
  const samples: Sample[] = [];
  for (const [i, part] of index.parts.entries()) {
    yield;
    const isLast = index.parts[i + 1]?.source !== part.source;
    const { rows, groups } = grouping.rowsOf(part);
    for (let i = 0; i < rows.length; i++) {
      const number = groups[i]!;
      const group = (byNumber[number] ??= waits.get(grouping.tally(number)) ?? null);
      const at = rows[i]!;
      const weight = group?.weightOf(part.duration[at]!) ?? 0;
      if (weight > 0) samples.push({ group: group!, part, at, isLast, weight });
    }
  }
  const elsewhere = yield* TracesElsewhere.of(index, samples);
  for (const sample of samples) {
    sample.group.add(index, called, blocked, elsewhere, sample);
    yield;
  }
  return (tally) => waits.get(tally) ?? NOTHING;
}

/** A span of a group that is looked at. */
interface Sample {
  part: IndexPart;
  at: number;
  group: SampledGroup;
  /** Whether its part is the last one of its source. */
  isLast: boolean;
  /** How often it counts. */
  weight: number;
}

class SampledGroup implements SampledWaits {
  readonly requests: SampledRequest[] = [];
  readonly flame = new FlameTally();
  readonly #sampler: TimeSampler;
  readonly #waits = new WaitTally();
  readonly #targets = new TargetBudget(MOST_TARGETS);
  #rows = 0;
  #sampled = 0;

  constructor({ durations, released, releasedTime }: GroupTally) {
    const count = durations.count - released;
    const total = durations.total - releasedTime;
    this.#sampler = new TimeSampler({ count, total }, SAMPLES, BY_NUMBER);
  }

  /** How often the next span of the group counts; 0: it is not looked at. */
  weightOf(duration: number): number {
    return this.#sampler.weightOf(duration);
  }

  add(
    index: LookIndex,
    called: CalledThreads,
    blocked: BlockedSpans,
    elsewhere: TracesElsewhere,
    { part, at, isLast, weight }: Sample,
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
    this.#waits.add(spans, waited, 0, weight);
    this.flame.add(spans, waited, weight);
    this.requests.push(profileOf(index, found, own, spans, waited, weight));
    this.#sampled += 1;
  }

  get figures(): GroupWaits {
    return { sampled: this.#sampled, waitedFor: this.#waits.longest };
  }
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
