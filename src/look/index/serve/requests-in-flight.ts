import { isRequest } from '../index-row.js';
import { WHOLE_PROCESS } from '../look-index.js';
import type { Answers, Counter } from '../look-index.js';
import type { IndexedPart } from '../parts/indexed-part.js';

/** Requests of which every begin and end is a point of the curve. */
const MAX_EXACT = 1 << 15;
/** Stretches of a longer curve at most. */
const STRETCHES = 1 << 16;

interface Points {
  times: Float64Array;
  values: Float64Array;
  areMeans: boolean;
}

/** The bytes of both as Base64. */
interface KeptPoints {
  times: string;
  values: string;
  areMeans: boolean;
}

function textOf({ buffer, byteOffset, byteLength }: Float64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function numbersOf(text: string): Float64Array {
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  return new Float64Array(bytes.buffer);
}

/** The begins and ends that a part adds to a curve. */
interface PartRequests {
  offset: number;
  count: number;
  /** The first begin and the last end, in ns since the index's epoch. */
  first: number;
  last: number;
  /** Stretches are `2 ** exponent` ns; how much of each the requests took, from stretch `begin` on. */
  exponent: number;
  begin: number;
  sums: Float64Array;
}

/**
 * How many requests a source was working on: exact for up to 32,768 of them, beyond that the mean of each
 * of up to 65,536 stretches. It is counted when it is first asked for, a part once.
 */
export class RequestsInFlight {
  readonly #known = new WeakMap<IndexedPart, PartRequests>();
  readonly #with = new WeakMap<IndexedPart, boolean>();

  /**
   * The curve of a source's parts; undefined if they have no request.
   *
   * @param answers where curves are kept that take long to count.
   */
  of(
    source: number,
    parts: readonly IndexedPart[],
    answers: () => Answers | undefined,
  ): Counter | undefined {
    if (!parts.some((part) => this.#hasRequest(part))) return undefined;
    const read = (): Points => this.#readOrKept(source, parts, answers());
    let points: Points | undefined;
    return {
      source,
      thread: WHOLE_PROCESS,
      name: 'requests in flight',
      unit: 'requests',
      get times() {
        return (points ??= read()).times;
      },
      get values() {
        return (points ??= read()).values;
      },
      get areMeans() {
        return (points ??= read()).areMeans;
      },
    };
  }

  /** Most parts say so with their first rows. */
  #hasRequest(part: IndexedPart): boolean {
    const known = this.#with.get(part) ?? part.flags.some(isRequest);
    this.#with.set(part, known);
    return known;
  }

  #readOrKept(source: number, parts: readonly IndexedPart[], answers: Answers | undefined): Points {
    const question = `requests in flight of ${source}`;
    const kept = answers?.read(question) as KeptPoints | undefined;
    if (kept !== undefined) {
      const { times, values, areMeans } = kept;
      return { times: numbersOf(times), values: numbersOf(values), areMeans };
    }
    const begun = performance.now();
    const read = this.#read(parts);
    const { times, values, areMeans } = read;
    const points: KeptPoints = { times: textOf(times), values: textOf(values), areMeans };
    answers?.keep(question, points, performance.now() - begun);
    return read;
  }

  #read(parts: readonly IndexedPart[]): Points {
    let count = 0;
    let first = Infinity;
    let last = -Infinity;
    for (const part of parts) {
      const own = this.#requestsOf(part);
      count += own.count;
      if (own.first < first) first = own.first;
      if (own.last > last) last = own.last;
    }
    const none = new Float64Array(0);
    if (count === 0) return { times: none, values: none, areMeans: false };
    return count > MAX_EXACT && last > first
      ? this.#means(parts, first, last)
      : steps(parts, count);
  }

  #requestsOf(part: IndexedPart): PartRequests {
    let known = this.#known.get(part);
    if (known === undefined || known.offset !== part.offset) {
      known = countRequests(part);
      this.#known.set(part, known);
    }
    return known;
  }

  /** A request counts in each stretch with the share of it that it takes. */
  #means(parts: readonly IndexedPart[], first: number, last: number): Points {
    let exponent = Math.max(0, Math.floor(Math.log2((last - first) / STRETCHES)));
    const stretchOf = (time: number): number => Math.floor(time / 2 ** exponent);
    while (stretchOf(last) - stretchOf(first) >= STRETCHES) exponent++;
    const begin = stretchOf(first);
    const size = stretchOf(last) - begin + 1;
    const values = new Float64Array(size + 1);
    for (const part of parts) {
      const own = this.#requestsOf(part);
      if (own.count === 0) continue;
      if (own.exponent === -1 || own.exponent > exponent) sumStretches(part, own, exponent);
      while (own.exponent < exponent) halve(own);
      addAt(values, own.begin - begin, own.sums);
    }
    const length = 2 ** exponent;
    const times = multiples(begin, size + 1, length);
    // The first and the last stretch are not whole.
    for (const at of new Set([0, size - 1])) {
      const from = Math.max(first, times[at]!);
      const to = Math.min(last, times[at]! + length);
      values[at] = to > from ? (values[at]! * length) / (to - from) : 0;
    }
    times[0] = first;
    times[size] = last;
    return { times, values, areMeans: true };
  }
}

function addAt(values: Float64Array, from: number, sums: Float64Array): void {
  for (let at = 0; at < sums.length; at++) values[from + at]! += sums[at]!;
}

function multiples(begin: number, count: number, length: number): Float64Array {
  const times = new Float64Array(count);
  for (let at = 0; at < count; at++) times[at] = (begin + at) * length;
  return times;
}

function countRequests({ flags, start, duration, offset }: IndexedPart): PartRequests {
  let count = 0;
  let first = Infinity;
  let last = -Infinity;
  for (let row = 0; row < flags.length; row++) {
    if (!isRequest(flags[row]!)) continue;
    count++;
    const begin = start[row]! + offset;
    if (begin < first) first = begin;
    if (begin + duration[row]! > last) last = begin + duration[row]!;
  }
  return { offset, count, first, last, exponent: -1, begin: 0, sums: new Float64Array(0) };
}

function sumStretches(part: IndexedPart, own: PartRequests, exponent: number): void {
  const { flags, start, duration, offset } = part;
  const length = 2 ** exponent;
  const begin = Math.floor(own.first / length);
  const size = Math.floor(own.last / length) - begin + 1;
  const sums = new Float64Array(size);
  /** Begins less ends of each stretch. */
  const change = new Float64Array(size + 1);
  for (let row = 0; row < flags.length; row++) {
    if (!isRequest(flags[row]!)) continue;
    const from = (start[row]! + offset) / length - begin;
    const to = from + duration[row]! / length;
    const first = Math.floor(from);
    const last = Math.min(size - 1, Math.floor(to));
    if (first === last) {
      sums[first]! += to - from;
      continue;
    }
    sums[first]! += first + 1 - from;
    sums[last]! += to - last;
    change[first + 1]!++;
    change[last]!--;
  }
  let running = 0;
  for (let at = 0; at < size; at++) {
    running += change[at]!;
    sums[at]! += running;
  }
  own.exponent = exponent;
  own.begin = begin;
  own.sums = sums;
}

/** Two stretches become one. */
function halve(own: PartRequests): void {
  const begin = Math.floor(own.begin / 2);
  const end = Math.floor((own.begin + own.sums.length - 1) / 2);
  const sums = new Float64Array(end - begin + 1);
  for (let at = 0; at < own.sums.length; at++) {
    sums[Math.floor((own.begin + at) / 2) - begin]! += own.sums[at]! / 2;
  }
  own.exponent++;
  own.begin = begin;
  own.sums = sums;
}

function steps(parts: readonly IndexedPart[], count: number): Points {
  const begins = new Float64Array(count);
  const ends = new Float64Array(count);
  let at = 0;
  for (const { flags, start, duration, offset } of parts) {
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
  return { times: Float64Array.from(times), values: Float64Array.from(values), areMeans: false };
}
