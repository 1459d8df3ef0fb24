import { failedOf } from '../../../rows/row-flags.js';
import { BLOCK_ROWS } from '../parts/attribute-blocks.js';
import type { IndexedPart } from '../parts/indexed-part.js';
import { firstAtLeast } from '../parts/first-at-least.js';
import { LanePixels } from './lane-pixels.js';
import type { LaneFold, Window } from '../look-index.js';
import { laneOfKey, trackOfKey } from '../parts/pyramid.js';
import type { Pyramid } from '../parts/pyramid.js';

/** A window is collected at once, so all share one. */
const pixels = new LanePixels();

/** A stretch of time in pixels. */
interface View {
  from: number;
  to: number;
  /** Pixels. */
  width: number;
  /** Ns of a pixel. */
  pixel: number;
}

/**
 * Collects what the pixels of a window show; times in ns since the index's epoch.
 *
 * @param laneCounts lanes of every track of the index.
 */
export function windowsOf(
  parts: readonly IndexedPart[],
  laneCounts: readonly number[],
  from: number,
  to: number,
  width: number,
  tracks: readonly number[],
  cell: number,
  fold?: LaneFold,
): Window[] {
  const pixel = Math.max((to - from) / Math.max(1, width), Number.MIN_VALUE);
  const view: View = { from, to, width: Math.max(1, Math.ceil(width)), pixel };
  pixels.begin(view.width, laneCounts, tracks, fold);
  if (tracks.length > 0) for (const part of parts) addPart(part, view);
  return pixels.windows(tracks, cell);
}

function addPart(part: IndexedPart, view: View): void {
  if (part.count === 0) return;
  if (part.firstStart + part.offset >= view.to || part.lastEnd + part.offset < view.from) return;
  const { pyramid } = part;
  const exponent = Math.floor(Math.log2(view.pixel));
  if (pyramid === undefined || exponent < pyramid.first) {
    addRows(part, view);
    return;
  }
  const level = Math.min(exponent - pyramid.first, pyramid.ends.length - 1);
  addCells(part, pyramid, level, view);
  addWideRows(part, pyramid, level, view);
}

function addRows(part: IndexedPart, view: View): void {
  const { start, duration, track, lane, flags, blockEnds, offset, firstRow, count } = part;
  const first = view.from - offset;
  const last = view.to - offset;
  const { pixel } = view;
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
      const own = lane[row]!;
      const slot = pixels.slotOf(track[row]!, own);
      if (slot === -1) continue;
      const column = pixelOf(at - first, view);
      if (length < pixel) {
        pixels.merge(slot, column, 1, failedOf(flags[row]!), firstRow + row, length);
      } else if (pixels.showsRows(track[row]!, own)) {
        pixels.addWide(slot, column, firstRow + row, at + offset);
      } else {
        const end = pixelOf(at + length - first, view);
        pixels.mergeWide(slot, column, end, failedOf(flags[row]!), firstRow + row, length);
      }
    }
  }
}

function addCells(part: IndexedPart, pyramid: Pyramid, level: number, view: View): void {
  const { offset, firstRow, firstTrack } = part;
  const { longest } = part.pyramidTimes;
  const { bucket, key, count, failed, row, ends } = pyramid;
  const first = view.from - offset;
  const last = view.to - offset;
  const width = 2 ** (pyramid.first + level);
  const to = ends[level]!;
  const from = level === 0 ? 0 : ends[level - 1]!;
  for (let cell = firstAtLeast(bucket, Math.floor(first / width), from, to); cell < to; cell++) {
    const at = bucket[cell]! * width;
    if (at >= last) break;
    const slot = pixels.slotOf(trackOfKey(key[cell]!) + firstTrack, laneOfKey(key[cell]!));
    if (slot === -1) continue;
    const column = pixelOf(at - first, view);
    pixels.merge(slot, column, count[cell]!, failed[cell]!, firstRow + row[cell]!, longest[cell]!);
  }
}

/** Rows that are not shorter than a bucket of the level. */
function addWideRows(part: IndexedPart, pyramid: Pyramid, level: number, view: View): void {
  const { offset, firstRow, firstTrack } = part;
  const { start, duration, key, failed } = part.pyramidTimes;
  const first = view.from - offset;
  const last = view.to - offset;
  const width = 2 ** (pyramid.first + level);
  const { wide } = pyramid;
  for (let each = 0; each < wide.length; each++) {
    const at = start[each]!;
    if (at >= last) break;
    const length = duration[each]!;
    if (length < width || (at < first && at + length <= first)) continue;
    const own = laneOfKey(key[each]!);
    const track = trackOfKey(key[each]!) + firstTrack;
    const slot = pixels.slotOf(track, own);
    if (slot === -1) continue;
    const column = pixelOf(at - first, view);
    const row = firstRow + wide[each]!;
    if (length < view.pixel) pixels.merge(slot, column, 1, failed[each]!, row, length);
    else if (pixels.showsRows(track, own)) pixels.addWide(slot, column, row, at + offset);
    else {
      const end = pixelOf(at + length - first, view);
      pixels.mergeWide(slot, column, end, failed[each]!, row, length);
    }
  }
}

function pixelOf(after: number, { pixel, width }: View): number {
  const at = Math.floor(after / pixel);
  return at < 0 ? 0 : at < width ? at : width - 1;
}
