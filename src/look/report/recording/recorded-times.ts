import { LOOP_BUSY_CURVE } from '../../../spans/read/loop-curves.js';
import { isRequest } from '../../index/index-row.js';
import type { IndexPart, LookIndex, Source } from '../../index/look-index.js';
import type { Steps } from '../../index/turns.js';
import { IntervalSet } from '../measures/interval-set.js';
import type { TimeWindow } from '../measures/selection.js';

/** When a process was recorded: ns of the index. */
interface Stretch {
  begin: number;
  end: number;
}

/**
 * When the process of each source was recorded: from the beginning of its first thread or of its trace, as far as it
 * is left, to the end of its last thread, or its last record.
 */
export class RecordedTimes {
  readonly #bySource = new Map<number, Stretch>();
  readonly #byService = new Map<string | null, IntervalSet>();

  constructor(index: LookIndex) {
    for (const source of index.sources) {
      this.#bySource.set(source.number, stretchOf(index, source));
    }
    const described = index.sources.filter(({ content }) => content !== 'states of threads');
    for (const { number, service = null } of described.length > 0 ? described : index.sources) {
      const known = this.#byService.get(service) ?? new IntervalSet();
      this.#byService.set(service, known);
      const { begin, end } = this.ofSource(number);
      known.add(begin, end);
    }
  }

  ofSource(number: number): Stretch {
    return this.#bySource.get(number)!;
  }

  /** Ns of a window in which a source was recorded, at least 1. */
  within(number: number, { from, to }: TimeWindow): number {
    const { begin, end } = this.ofSource(number);
    return Math.max(1, Math.min(end, to) - Math.max(begin, from));
  }

  /** Whether a source was recorded in a window; one that has recorded nothing was. */
  overlaps(number: number, { from, to }: TimeWindow): boolean {
    const { begin, end } = this.ofSource(number);
    return begin > end || (end >= from && begin < to);
  }

  /** Ns of a window in which any process of a service was recorded, at least 1. */
  ofService(service: string | null, { from, to }: TimeWindow): number {
    return Math.max(1, this.#byService.get(service)?.overlap(from, to) ?? to - from);
  }

  /** Ns in which any process was recorded, at least 1. */
  get ofAll(): number {
    const all = new IntervalSet();
    for (const { begin, end } of this.#bySource.values()) if (begin < end) all.add(begin, end);
    return Math.max(1, all.overlap(-Infinity, Infinity));
  }
}

function extend(stretch: Stretch, begin: number, end: number): void {
  stretch.begin = Math.min(stretch.begin, begin);
  stretch.end = Math.max(stretch.end, end);
}

function stretchOf(index: LookIndex, source: Source): Stretch {
  const stretch: Stretch = { begin: Infinity, end: -Infinity };
  for (const { source: own, count, firstStart, lastEnd, offset } of index.parts) {
    if (own.number !== source.number || count === 0) continue;
    extend(stretch, firstStart + offset, lastEnd + offset);
  }
  const zero = Number(source.epoch + source.clockOffset - index.epoch);
  if (source.lived !== undefined) {
    extend(stretch, zero + source.lived.begin, zero + source.lived.end);
  }
  if (source.deleted !== undefined) stretch.begin = zero + source.deleted.until;
  else if (source.isAligned && source.content === 'spans') extend(stretch, zero, -Infinity);
  for (const counter of index.counters) {
    // Points of other curves are made when they are asked for: it takes all rows to do so.
    if (counter.source !== source.number || counter.name !== LOOP_BUSY_CURVE) continue;
    stretch.end = counter.times.reduce((most, time) => Math.max(most, time), stretch.end);
  }
  if (source.until !== undefined) stretch.end = Math.max(stretch.end, source.until);
  return stretch;
}

/** Up to the first request a process starts: for so many ns at most, fewer if it has no requests. */
const LONGEST_START = 10e9;
const START_WITHOUT_REQUESTS = 1e9;

/** Until when the process of each source was starting, in ns of the index. */
export class ProcessStarts {
  readonly #until = new Map<number, number>();

  static *of(index: LookIndex, times: RecordedTimes): Steps<ProcessStarts> {
    const starts = new ProcessStarts();
    const firsts = new Map<number, number>();
    for (const part of index.parts) {
      yield;
      const first = firstRequest(part);
      const { number } = part.source;
      if (first < (firsts.get(number) ?? Infinity)) firsts.set(number, first);
    }
    for (const { number, deleted } of index.sources) {
      if (deleted !== undefined) {
        starts.#until.set(number, -Infinity);
        continue;
      }
      const first = firsts.get(number);
      const { begin } = times.ofSource(number);
      starts.#until.set(
        number,
        first === undefined
          ? begin + START_WITHOUT_REQUESTS
          : Math.min(first, begin + LONGEST_START),
      );
    }
    return starts;
  }

  /** Whether the process of a source was starting at a time. */
  isStarting(source: number, time: number): boolean {
    return time < this.#until.get(source)!;
  }
}

/** When the first request of a part began; Infinity: it has none. */
function firstRequest({ flags, start, offset, count }: IndexPart): number {
  for (let at = 0; at < count; at++) if (isRequest(flags[at]!)) return start[at]! + offset;
  return Infinity;
}
