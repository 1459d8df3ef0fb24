import { isRequest } from '../index/index-row.js';
import type { IndexPart, LookIndex, Source } from '../index/look-index.js';
import type { Steps } from '../index/turns.js';
import { IntervalSet } from './interval-set.js';
import { threadKeys } from './processes.js';
import type { TimeWindow } from './selection.js';

/** As the index names the curve of `tracewright.loop`. */
export const UTILISATION = 'event loop utilisation';

/** When a process was recorded: ns of the index. */
interface Stretch {
  begin: number;
  end: number;
}

/**
 * When the process of each source was recorded: from the beginning of its trace, as far as it is left, to its last
 * record. The ovni trace of the same process says more: when its threads began and ended.
 */
export class RecordedTimes {
  readonly #bySource = new Map<number, Stretch>();
  readonly #byService = new Map<string | null, IntervalSet>();

  static *of(index: LookIndex): Steps<RecordedTimes> {
    const times = new RecordedTimes();
    for (const source of index.sources)
      times.#bySource.set(source.number, stretchOf(index, source));
    yield* times.#addThreads(index);
    const described = index.sources.filter(({ content }) => content !== 'states of threads');
    for (const { number, service = null } of described.length > 0 ? described : index.sources) {
      const known = times.#byService.get(service) ?? new IntervalSet();
      times.#byService.set(service, known);
      const { begin, end } = times.ofSource(number);
      known.add(begin, end);
    }
    return times;
  }

  ofSource(number: number): Stretch {
    return this.#bySource.get(number)!;
  }

  /** Ns of a window in which a source was recorded, at least 1. */
  within(number: number, { from, to }: TimeWindow): number {
    const { begin, end } = this.ofSource(number);
    return Math.max(1, Math.min(end, to) - Math.max(begin, from));
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

  /** Extends a process by the times of its threads in ovni traces. */
  *#addThreads(index: LookIndex): Steps<void> {
    const { sources, tracks, parts } = index;
    const ovni = new Set(
      sources.filter(({ content }) => content === 'states of threads').map(({ number }) => number),
    );
    if (ovni.size === 0 || ovni.size === sources.length) return;
    const keys = threadKeys(index);
    const ofThreads = new Map<string, Stretch>();
    const stretches = tracks.map(({ kind, source, number }) => {
      if (kind !== 'states' || !ovni.has(source)) return undefined;
      const known = ofThreads.get(keys[number]!) ?? { begin: Infinity, end: -Infinity };
      ofThreads.set(keys[number]!, known);
      return known;
    });
    for (const part of parts) {
      yield;
      if (!ovni.has(part.source.number)) continue;
      const { start, duration, track, offset, count } = part;
      for (let at = 0; at < count; at++) {
        const stretch = stretches[track[at]!];
        const begin = start[at]! + offset;
        if (stretch !== undefined) extend(stretch, begin, begin + duration[at]!);
      }
    }
    const cut = new Set(sources.filter((each) => each.deleted).map(({ number }) => number));
    for (const { number, source } of tracks) {
      const thread = ofThreads.get(keys[number]!);
      if (thread === undefined || ovni.has(source)) continue;
      // Its spans of the time before are deleted.
      const begin = cut.has(source) ? Infinity : thread.begin;
      extend(this.#bySource.get(source)!, begin, thread.end);
    }
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
  if (source.deleted !== undefined) {
    stretch.begin = Number(source.epoch + source.clockOffset - index.epoch) + source.deleted.until;
  } else if (source.isAligned && source.content === 'spans') {
    stretch.begin = Math.min(
      stretch.begin,
      Number(source.epoch + source.clockOffset - index.epoch),
    );
  }
  for (const counter of index.counters) {
    // Points of other curves are made when they are asked for: it takes all rows to do so.
    if (counter.source !== source.number || counter.name !== UTILISATION) continue;
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
