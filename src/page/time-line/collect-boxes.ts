import { firstAtLeast } from '../../look/index/parts/first-at-least.js';
import { STALLS_LANE } from '../../look/wire/answers.js';
import { laneKey } from '../data/box-windows.js';
import type { BoxWindow, BoxWindows, ShownBoxes, Sight } from '../data/box-windows.js';
import type { SampleLine, TrackLine } from './lines.js';
import type { Picture } from './picture.js';

/** How the time of the screen becomes pixels. */
export interface Scale {
  from: number;
  to: number;
  /** `from` in pixels. */
  left: number;
  width: number;
}

export function pixelOf(scale: Scale, time: number): number {
  return scale.left + ((time - scale.from) / (scale.to - scale.from)) * scale.width;
}

export function timeOf(scale: Scale, x: number): number {
  return scale.from + ((x - scale.left) / scale.width) * (scale.to - scale.from);
}

/**
 * Adds the boxes of a track's lanes to the picture, from what is in memory: each piece of time from the
 * window that fits best.
 */
export function collectBoxes(
  picture: Picture,
  line: TrackLine | SampleLine,
  windows: BoxWindows,
  sight: Sight,
  scale: Scale,
  top: number,
): void {
  const fitting = windows.of(line.track.number, sight);
  if (fitting.length === 0) return;
  const pieces = piecesOf(fitting, scale);
  for (let lane = 0; lane < line.lanes; lane++) {
    const y = top + lane * line.laneHeight;
    for (const piece of pieces) addLane(picture, line, lane, piece, scale, y);
  }
  if (line.folded === 0) return;
  // Above the merged boxes, which would hide them.
  const y = top + (line.lanes - 1) * line.laneHeight;
  for (const piece of pieces) addLane(picture, line, STALLS_LANE, piece, scale, y);
}

interface Piece {
  window: BoxWindow;
  from: number;
  to: number;
}

/** Divides the time of the screen among the windows, the most fitting first. */
function piecesOf(windows: readonly BoxWindow[], { from, to }: Scale): Piece[] {
  let open: [number, number][] = [[from, to]];
  const pieces: Piece[] = [];
  for (const window of windows) {
    const rest: [number, number][] = [];
    for (const [start, end] of open) {
      const first = Math.max(start, window.from);
      const last = Math.min(end, window.to);
      if (first >= last) {
        rest.push([start, end]);
        continue;
      }
      pieces.push({ window, from: first, to: last });
      if (start < first) rest.push([start, first]);
      if (last < end) rest.push([last, end]);
    }
    open = rest;
    if (open.length === 0) break;
  }
  return pieces.sort((a, b) => a.from - b.from);
}

function addLane(
  picture: Picture,
  { track, laneHeight, lanes, folded }: TrackLine | SampleLine,
  lane: number,
  { window, from, to }: Piece,
  scale: Scale,
  top: number,
): void {
  const range = window.lanes.get(laneKey(track.number, lane));
  if (range === undefined) return;
  const { start, end, row, count, name, flags, failed, samples, within, withinStart } =
    window.boxes;
  const perPixel = scale.width / (scale.to - scale.from);
  const [clipLeft, clipRight] = [scale.left, scale.left + scale.width];
  let lastRight = -1;
  // Boxes of a lane do not overlap, so their ends ascend too.
  for (let at = firstAtLeast(end, from, ...range); at < range[1]; at++) {
    const begin = start[at]!;
    if (begin >= to) break;
    // A row that began in an earlier piece is part of that one, unless it began before all.
    if (begin < from && from !== scale.from) {
      const previous = picture.size - 1;
      if (previous >= 0 && picture.row[previous] === row[at] && picture.lane[previous] === lane) {
        continue;
      }
    }
    const left = Math.max(clipLeft, Math.round(scale.left + (begin - scale.from) * perPixel));
    const exact = Math.round(scale.left + (end[at]! - scale.from) * perPixel);
    const right = Math.min(clipRight, Math.max(left + 1, exact));
    // Of a window that is finer than the screen, what ends in the same pixel adds nothing.
    if (right <= lastRight) continue;
    lastRight = right;
    const box = picture.add();
    picture.left[box] = left;
    picture.right[box] = right;
    picture.top[box] = top;
    picture.height[box] = laneHeight - 1;
    picture.row[box] = row[at]!;
    picture.count[box] = count[at]!;
    picture.name[box] = name[at]!;
    picture.flags[box] = flags[at]!;
    picture.failed[box] = failed[at]!;
    picture.samples[box] = samples?.[at] ?? 0;
    picture.within[box] = within?.[at] ?? 0;
    picture.withinStart[box] = withinStart?.[at] ?? 0;
    picture.track[box] = track.number;
    picture.lane[box] = lane;
    picture.folded[box] = folded > 0 && lane === lanes - 1 ? 1 : 0;
    picture.start[box] = begin;
    picture.end[box] = end[at]!;
    if (count[at]! > 1 && failed[at]! > 0) addMarks(picture, window.boxes, at, box, scale);
  }
}

/** Where rows of a merged box begin that failed; as wide as the pixels for which the box was made, or one. */
function addMarks(
  picture: Picture,
  { failedBox, failedFrom, failedTo }: ShownBoxes,
  at: number,
  box: number,
  scale: Scale,
): void {
  const [first, last] = [picture.left[box]!, picture.right[box]!];
  for (let mark = firstAtLeast(failedBox, at); failedBox[mark] === at; mark++) {
    // Times of pixels are rounded.
    const left = Math.max(first, Math.floor(pixelOf(scale, failedFrom[mark]!) + 0.01));
    const right = Math.min(last, Math.ceil(pixelOf(scale, failedTo[mark]!) - 0.01));
    if (left >= last || right <= first) continue;
    const before = picture.marks.at(-1);
    if (before?.box === box && left <= before.right) before.right = Math.max(before.right, right);
    else picture.marks.push({ box, left, right: Math.max(left + 1, right) });
  }
}
