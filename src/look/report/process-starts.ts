import type { IndexPart, LookIndex } from '../index/look-index.js';
import type { Steps } from '../index/turns.js';
import { isRequest } from './groups.js';
import type { RecordedTimes } from './recorded-times.js';

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
