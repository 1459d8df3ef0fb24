import { BLOCK_ROWS } from '../parts/attribute-blocks.js';
import type { IndexedPart } from '../parts/indexed-part.js';
import { partAt } from '../sources/join-parents.js';
import type { Window } from '../look-index.js';
import { laneOfKey, trackOfKey } from '../parts/pyramid.js';
import type { Pyramid } from '../parts/pyramid.js';

/** The last lane that a window shows. It has the rows of all further lanes, merged. */
const LAST_LANE = 511;

/** What the pixels of one lane show while they are collected. */
class LanePicture {
  readonly rows: number[] = [];
  /** By pixel: how many rows are merged there, the longest of them, and its duration. */
  readonly counts: Uint32Array;
  readonly longest: Int32Array;
  readonly durations: Float64Array;

  constructor(width: number) {
    this.counts = new Uint32Array(width);
    this.longest = new Int32Array(width);
    this.durations = new Float64Array(width);
  }

  merge(pixel: number, count: number, row: number, duration: number): void {
    if (this.counts[pixel] === 0 || duration > this.durations[pixel]!) {
      this.longest[pixel] = row;
      this.durations[pixel] = duration;
    }
    this.counts[pixel]! += count;
  }
}

/** A view of a stretch of time in pixels. */
class WindowView {
  readonly #from: number;
  readonly #to: number;
  readonly #width: number;
  readonly #pixel: number;
  readonly #pictures = new Map<number, (LanePicture | undefined)[]>();

  constructor(from: number, to: number, width: number, tracks: readonly number[]) {
    this.#from = from;
    this.#to = to;
    this.#width = Math.max(1, Math.ceil(width));
    this.#pixel = Math.max((to - from) / Math.max(1, width), Number.MIN_VALUE);
    for (const track of tracks) this.#pictures.set(track, []);
  }

  add(part: IndexedPart): void {
    if (part.count === 0 || this.#pictures.size === 0) return;
    if (part.firstStart + part.offset >= this.#to || part.lastEnd + part.offset < this.#from)
      return;
    const { pyramid } = part;
    const exponent = Math.floor(Math.log2(this.#pixel));
    if (pyramid === undefined || exponent < pyramid.first) this.#addRows(part);
    else this.#addCells(part, pyramid, Math.min(exponent - pyramid.first, pyramid.ends.length - 1));
  }

  windows(startOf: (row: number) => number): Window[] {
    return [...this.#pictures].flatMap(([track, lanes]) =>
      lanes.flatMap((picture, lane) =>
        picture === undefined ? [] : [this.#window(track, lane, picture, startOf)],
      ),
    );
  }

  #addRows(part: IndexedPart): void {
    const { start, duration, track, lane, blockEnds, offset, firstRow, count } = part;
    const first = this.#from - offset;
    const last = this.#to - offset;
    const pixel = this.#pixel;
    for (let block = 0; block < blockEnds.length; block++) {
      const begin = block * BLOCK_ROWS;
      if (start[begin]! >= last) break;
      if (blockEnds[block]! < first) continue;
      const end = Math.min(count, begin + BLOCK_ROWS);
      for (let row = begin; row < end; row++) {
        const at = start[row]!;
        if (at >= last) break;
        const length = duration[row]!;
        if (at < first && at + length <= first) continue;
        const picture = this.#picture(track[row]!, lane[row]!);
        if (picture === undefined) continue;
        if (length >= pixel && lane[row]! < LAST_LANE) picture.rows.push(firstRow + row);
        else picture.merge(this.#place(at - first), 1, firstRow + row, length);
      }
    }
  }

  #addCells(part: IndexedPart, pyramid: Pyramid, level: number): void {
    const { offset, firstRow, firstTrack, start, duration, track, lane } = part;
    const first = this.#from - offset;
    const last = this.#to - offset;
    const pixel = this.#pixel;
    const width = 2 ** (pyramid.first + level);
    const to = pyramid.ends[level]!;
    let cell = lowerBound(
      pyramid.bucket,
      level === 0 ? 0 : pyramid.ends[level - 1]!,
      to,
      Math.floor(first / width),
    );
    for (; cell < to; cell++) {
      const at = pyramid.bucket[cell]! * width;
      if (at >= last) break;
      const key = pyramid.key[cell]!;
      const picture = this.#picture(trackOfKey(key) + firstTrack, laneOfKey(key));
      if (picture === undefined) continue;
      const row = pyramid.row[cell]!;
      picture.merge(this.#place(at - first), pyramid.count[cell]!, firstRow + row, duration[row]!);
    }
    for (const row of pyramid.wide) {
      const at = start[row]!;
      if (at >= last) break;
      const length = duration[row]!;
      if (length < width || (at < first && at + length <= first)) continue;
      const picture = this.#picture(track[row]!, lane[row]!);
      if (picture === undefined) continue;
      if (length >= pixel && lane[row]! < LAST_LANE) picture.rows.push(firstRow + row);
      else picture.merge(this.#place(at - first), 1, firstRow + row, length);
    }
  }

  #place(after: number): number {
    const place = Math.floor(after / this.#pixel);
    return place < 0 ? 0 : Math.min(place, this.#width - 1);
  }

  #picture(track: number, wanted: number): LanePicture | undefined {
    const lane = Math.min(wanted, LAST_LANE);
    const lanes = this.#pictures.get(track);
    if (lanes === undefined) return undefined;
    while (lanes.length <= lane) lanes.push(undefined);
    return (lanes[lane] ??= new LanePicture(this.#width));
  }

  #window(
    track: number,
    lane: number,
    { rows, counts, longest }: LanePicture,
    startOf: (row: number) => number,
  ): Window {
    const pixels: number[] = [];
    for (let pixel = 0; pixel < counts.length; pixel++) if (counts[pixel]! > 0) pixels.push(pixel);
    const ordered = rows.map((row) => ({ row, start: startOf(row) }));
    ordered.sort((a, b) => a.start - b.start);
    return {
      track,
      lane,
      rows: Int32Array.from(ordered, ({ row }) => row),
      merged: {
        at: Float64Array.from(pixels),
        width: new Float64Array(pixels.length).fill(1),
        count: Uint32Array.from(pixels, (pixel) => counts[pixel]!),
        row: Int32Array.from(pixels, (pixel) => longest[pixel]!),
      },
    };
  }
}

/** The first of `values` between `from` and `to` that is not below `least`. */
function lowerBound(values: Float64Array, from: number, to: number, least: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What the pixels of a window show; times in ns since the index's epoch. */
export function windowsOf(
  parts: readonly IndexedPart[],
  from: number,
  to: number,
  width: number,
  tracks: readonly number[],
): Window[] {
  const view = new WindowView(from, to, width, tracks);
  for (const part of parts) view.add(part);
  return view.windows((row) => {
    const part = partAt(parts, row);
    return part.start[row - part.firstRow]! + part.offset;
  });
}
