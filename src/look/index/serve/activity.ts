import type { IndexedPart } from '../parts/indexed-part.js';
import { trackOfKey } from '../parts/pyramid.js';

/** How busy stretches of one length are: `add` spreads rows over those that they lie in. */
class Stretches {
  readonly rows: Float64Array;
  readonly #each: number;

  /** @param length ns of all stretches together. */
  constructor(count: number, length: number) {
    this.rows = new Float64Array(count);
    this.#each = length / count;
  }

  /** Rows that begin between two times, nobody knows where. What lies outside of all is cut off. */
  spread(begin: number, end: number, count: number): void {
    const from = Math.max(0, begin);
    const to = Math.max(from, Math.min(end, this.#each * this.rows.length));
    const first = this.#at(from);
    const last = this.#at(to);
    if (first === last) {
      this.rows[first]! += count;
      return;
    }
    const perNs = count / (to - from);
    for (let at = first; at <= last; at++) {
      const within = Math.min(to, (at + 1) * this.#each) - Math.max(from, at * this.#each);
      this.rows[at]! += within * perNs;
    }
  }

  /**
   * One row that is open from a time to another: the part of each stretch in which it is. A row that is shorter than a
   * stretch counts as one, spread over as much around it: where few rows lie in a stretch, an even load would look like
   * a comb of ones and twos.
   */
  cover(from: number, to: number): void {
    const length = to - from;
    if (length >= this.#each) {
      this.spread(from, to, length / this.#each);
      return;
    }
    const begin = (from + length / 2) / this.#each - 0.5;
    const first = Math.floor(begin);
    if (first >= 0) this.rows[first]! += first + 1 - begin;
    // What lies beyond the edge is left out: added to the edge, it would be a peak.
    if (first + 1 < this.rows.length) this.rows[first + 1]! += begin - first;
  }

  #at(time: number): number {
    return Math.min(this.rows.length - 1, Math.max(0, Math.floor(time / this.#each)));
  }
}

/**
 * How many rows lie in each of `count` stretches of the whole recording, from the pyramids where there are
 * some. A cell's rows are spread over its bucket: a bucket is seldom as wide as a stretch, and whole counts
 * would show a comb for an even load.
 *
 * @param length ns of the recording.
 */
export function activityOf(
  parts: readonly IndexedPart[],
  tracks: ReadonlySet<number>,
  count: number,
  length: number,
): Float64Array {
  const stretches = new Stretches(count, length);
  if (length === 0) return stretches.rows;
  for (const part of parts) {
    const { pyramid, offset, firstTrack } = part;
    if (pyramid === undefined) {
      const { start, duration, track } = part;
      for (let row = 0; row < part.count; row++) {
        if (!tracks.has(track[row]!)) continue;
        stretches.cover(start[row]! + offset, start[row]! + duration[row]! + offset);
      }
      continue;
    }
    const exponent = Math.floor(Math.log2(length / count));
    const level = Math.min(Math.max(0, exponent - pyramid.first), pyramid.ends.length - 1);
    const width = 2 ** (pyramid.first + level);
    const { bucket, key, ends } = pyramid;
    for (let cell = level === 0 ? 0 : ends[level - 1]!; cell < ends[level]!; cell++) {
      if (!tracks.has(trackOfKey(key[cell]!) + firstTrack)) continue;
      const from = bucket[cell]! * width + offset;
      stretches.spread(from, from + width, pyramid.count[cell]!);
    }
    const { start, duration, key: keys } = part.pyramidTimes;
    for (let at = 0; at < start.length; at++) {
      // Shorter ones are in the cells.
      if (duration[at]! < width || !tracks.has(trackOfKey(keys[at]!) + firstTrack)) continue;
      stretches.cover(start[at]! + offset, start[at]! + duration[at]! + offset);
    }
  }
  return stretches.rows;
}
