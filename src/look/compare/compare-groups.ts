import type { IndexPart, LookIndex, Track } from '../index/look-index.js';
import { SampledCalls, isCall } from '../report/call-target.js';
import { Distribution } from '../report/distribution.js';
import { isError } from '../report/groups.js';
import { isInterruption, isInterruptionMark } from '../report/interruptions.js';
import { isMethod } from '../report/request-name.js';
import type { ComparedGroup, ComparedSide } from './comparison-shape.js';

/** Of a normal distribution: 95 % lie within so many standard deviations. */
const CONFIDENCE = 1.96;
/** Spans without which a side says nothing. */
const LEAST_SPANS = 5;

/** The spans of one name and service on one side. */
class Side {
  readonly durations = new Distribution(false);
  errors = 0;
  /** Of the logarithms of durations. */
  #mean = 0;
  #squares = 0;

  add(duration: number, failed: boolean): void {
    this.durations.add(duration);
    if (failed) this.errors += 1;
    // Welford's way: no sum of squares grows out of its digits.
    const logarithm = Math.log(Math.max(1, duration));
    const difference = logarithm - this.#mean;
    this.#mean += difference / this.durations.count;
    this.#squares += difference * (logarithm - this.#mean);
  }

  get mean(): number {
    return this.#mean;
  }

  /** The squared standard error of the mean. */
  get error(): number {
    const { count } = this.durations;
    return this.#squares / (count - 1) / count;
  }

  get figures(): ComparedSide {
    const { durations, errors } = this;
    const [p50, p95] = [durations.percentile(50), durations.percentile(95)];
    return { count: durations.count, errors, p50, p95 };
  }
}

interface Pair {
  name: string;
  service: string | null;
  /** Of calls that are named by their method alone. */
  calls: SampledCalls | undefined;
  before: Side;
  after: Side;
}

/** Rows of some sources. */
export interface RowsOfSide {
  index: LookIndex;
  /** Ascending. */
  rows: Int32Array;
  /** Numbers of the sources. */
  sources: ReadonlySet<number>;
}

/**
 * Compares spans with others, by name and service: by name alone if the two sides have no service in common.
 */
export function compareGroups(before: RowsOfSide, after: RowsOfSide): ComparedGroup[] {
  const pairs: Pairs = { spans: new Map(), marks: new Map(), states: new Map() };
  const byService = haveCommonService(before, after);
  addSide(pairs, 'before', before, byService);
  addSide(pairs, 'after', after, byService);
  const groups = shownPairs(pairs).map(
    ({ name, service, calls, before: first, after: second }): ComparedGroup => ({
      name,
      targets: calls?.targets ?? [],
      service,
      before: first.figures,
      after: second.figures,
      ratio: ratioOf(first, second),
    }),
  );
  return groups.sort((a, b) => weight(b) - weight(a) || b.after.count - a.after.count);
}

function addSide(
  pairs: Pairs,
  side: 'before' | 'after',
  { index, rows, sources }: RowsOfSide,
  byService: boolean,
): void {
  const placeOfTrack = index.tracks.map((track) => pairs[originOf(track)]);
  let next = 0;
  for (const part of index.parts) {
    const end = part.firstRow + part.count;
    if (!sources.has(part.source.number)) {
      while (next < rows.length && rows[next]! < end) next++;
      continue;
    }
    const ofName = new Map<Map<string, Pair>, (Pair | undefined)[]>();
    const ofCalls: (Pair | undefined)[] = [];
    const areMethods = methodNames(part);
    for (; next < rows.length && rows[next]! < end; next++) {
      const at = rows[next]! - part.firstRow;
      const name = part.name[at]!;
      const place = placeOfTrack[part.track[at]!]!;
      let pair: Pair;
      if (areMethods[name] === 1 && isCall(part, at)) {
        pair = ofCalls[name] ??= pairOf(place, part, name, byService, true);
        pair.calls!.add(index, rows[next]!);
      } else {
        let known = ofName.get(place);
        if (known === undefined) ofName.set(place, (known = []));
        pair = known[name] ??= pairOf(place, part, name, byService, false);
      }
      pair[side].add(part.duration[at]!, isError(part.flags[at]!));
    }
  }
}

/** Pairs by name and service, of what was recorded in different ways. */
type Pairs = Record<Origin, Map<string, Pair>>;

/** `marks`: the stalls and collections of ovni. `states`: that a thread ran, or did not. */
type Origin = 'spans' | 'marks' | 'states';

function originOf(track: Track): Origin {
  if (track.kind === 'states') return 'states';
  return isInterruptionMark(track) ? 'marks' : 'spans';
}

/** Without what says nothing next to spans: states, and marks of what is there as spans. */
function shownPairs({ spans, marks, states }: Pairs): Pair[] {
  const all = [...spans.values()];
  if (!all.some(({ name }) => isInterruption(name))) all.push(...marks.values());
  return all.length > 0 ? all : [...states.values()];
}

function haveCommonService(before: RowsOfSide, after: RowsOfSide): boolean {
  const [first, second] = [before, after].map(
    ({ index, sources }) =>
      new Set(
        index.sources.filter(({ number }) => sources.has(number)).map(({ service }) => service),
      ),
  );
  return [...second!].some((service) => first!.has(service));
}

/** By number of a name of the part: 1 if requests and calls of other services may have it. */
function methodNames({ names }: IndexPart): Uint8Array {
  return Uint8Array.from({ length: names.count }, (_, number) =>
    isMethod(names.text(number)) ? 1 : 0,
  );
}

function pairOf(
  pairs: Map<string, Pair>,
  part: IndexPart,
  number: number,
  byService: boolean,
  areCalls: boolean,
): Pair {
  const name = part.names.text(number);
  const service = byService ? (part.source.service ?? null) : null;
  const key = `${service ?? ''}\n${areCalls ? 'call' : ''}\n${name}`;
  let pair = pairs.get(key);
  if (pair === undefined) {
    const calls = areCalls ? new SampledCalls() : undefined;
    pair = { name, service, calls, before: new Side(), after: new Side() };
    pairs.set(key, pair);
  }
  return pair;
}

/** Welch's interval of the difference of two means, of logarithms: a ratio of geometric means. */
function ratioOf(before: Side, after: Side): ComparedGroup['ratio'] {
  if (before.durations.count < LEAST_SPANS || after.durations.count < LEAST_SPANS) return null;
  const difference = after.mean - before.mean;
  const error = CONFIDENCE * Math.sqrt(before.error + after.error);
  const [value, low, high] = [difference, difference - error, difference + error].map(Math.exp);
  return { value: value!, low: low!, high: high! };
}

/** Where a group is shown: positive if slower, 0 if nobody can say, negative if faster. */
function weight({ ratio }: ComparedGroup): number {
  if (ratio === null || (ratio.low <= 1 && ratio.high >= 1)) return 0;
  return Math.log(ratio.value);
}
