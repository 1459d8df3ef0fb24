import { KINDS } from '../../../spans/layout.js';
import { KIND_MASK, WHOLE_PROCESS } from '../look-index.js';
import type { Counter } from '../look-index.js';
import type { IndexedPart } from '../parts/indexed-part.js';

const SERVER = KINDS.indexOf('server');
const CONSUMER = KINDS.indexOf('consumer');
/** Requests of which every begin and end is a point of the curve. */
const MAX_EXACT = 1 << 15;
/** Stretches of a longer curve. */
const STRETCHES = 1 << 16;

interface Points {
  times: Float64Array;
  values: Float64Array;
}

function isRequest(flags: number): boolean {
  const kind = flags & KIND_MASK;
  return kind === SERVER || kind === CONSUMER;
}

/** Whether a part has a request. */
export function hasRequest({ flags }: IndexedPart): boolean {
  return flags.some(isRequest);
}

/**
 * How many requests a source was working on: exact for up to 32,768 of them, beyond that the mean of each
 * of 65,536 stretches. It is counted when it is first asked for.
 */
export class RequestsInFlight implements Counter {
  readonly source: number;
  readonly thread = WHOLE_PROCESS;
  readonly name = 'requests in flight';
  readonly unit = 'requests';
  readonly #parts: readonly IndexedPart[];
  #points: Points | undefined;

  /** @param parts of the source. */
  constructor(source: number, parts: readonly IndexedPart[]) {
    this.source = source;
    this.#parts = parts;
  }

  get times(): Float64Array {
    return (this.#points ??= this.#read()).times;
  }

  get values(): Float64Array {
    return (this.#points ??= this.#read()).values;
  }

  #read(): Points {
    let count = 0;
    let first = Infinity;
    let last = -Infinity;
    for (const { flags, start, duration, offset } of this.#parts) {
      for (let row = 0; row < flags.length; row++) {
        if (!isRequest(flags[row]!)) continue;
        count++;
        const begin = start[row]! + offset;
        if (begin < first) first = begin;
        if (begin + duration[row]! > last) last = begin + duration[row]!;
      }
    }
    if (count === 0) return { times: new Float64Array(0), values: new Float64Array(0) };
    return count > MAX_EXACT && last > first ? this.#means(first, last) : this.#steps(count);
  }

  #steps(count: number): Points {
    const begins = new Float64Array(count);
    const ends = new Float64Array(count);
    let at = 0;
    for (const { flags, start, duration, offset } of this.#parts) {
      for (let row = 0; row < flags.length; row++) {
        if (!isRequest(flags[row]!)) continue;
        begins[at] = start[row]! + offset;
        ends[at++] = start[row]! + offset + duration[row]!;
      }
    }
    begins.sort();
    ends.sort();
    const times: number[] = [];
    const values: number[] = [];
    let begun = 0;
    let ended = 0;
    while (ended < count) {
      const time = Math.min(begins[begun] ?? Infinity, ends[ended]!);
      while (begins[begun] === time) begun++;
      while (ends[ended] === time) ended++;
      times.push(time);
      values.push(begun - ended);
    }
    return { times: Float64Array.from(times), values: Float64Array.from(values) };
  }

  /** A request counts in each stretch with the share of it that it takes. */
  #means(first: number, last: number): Points {
    const length = (last - first) / STRETCHES;
    const values = new Float64Array(STRETCHES + 1);
    /** What begins, less what ends, in whole stretches. */
    const change = new Float64Array(STRETCHES + 1);
    for (const { flags, start, duration, offset } of this.#parts) {
      for (let row = 0; row < flags.length; row++) {
        if (!isRequest(flags[row]!)) continue;
        const from = (start[row]! + offset - first) / length;
        const to = from + duration[row]! / length;
        const begin = Math.min(STRETCHES - 1, Math.floor(from));
        const end = Math.min(STRETCHES - 1, Math.floor(to));
        if (begin === end) {
          values[begin]! += to - from;
          continue;
        }
        values[begin]! += begin + 1 - from;
        values[end]! += to - end;
        change[begin + 1]!++;
        change[end]!--;
      }
    }
    const times = new Float64Array(STRETCHES + 1);
    let running = 0;
    for (let at = 0; at < STRETCHES; at++) {
      times[at] = first + at * length;
      running += change[at]!;
      values[at]! += running;
    }
    times[STRETCHES] = last;
    values[STRETCHES] = 0;
    return { times, values };
  }
}
