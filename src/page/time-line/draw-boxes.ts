import {
  INSTANT_BIT,
  STATUS_MASK,
  STATUS_SHIFT,
  UNFINISHED_BIT,
  failedOf,
} from '../../look/index/look-index.js';
import { INK, STATUS_COLOURS } from '../theme/palette.js';
import type { CanvasColours } from '../theme/theme.js';
import type { Labels } from './labels.js';
import type { LitBoxes } from './lit-boxes.js';
import type { Picture } from './picture.js';

const ERROR = 2;
/** How much of a colour is left of what does not match a search. */
const DIM = 0.25;
/** Where rows failed. */
const FAILED = '#a0001c';
/** Height of the marks of matches, above merged boxes. */
const LIT_HEIGHT = 2;
/** Pixels of a stripe, and between two. */
const STRIPE = 2;
/** Pixels that a label needs at least. */
const LABEL_WIDTH = 14;
/** Pixels between the left edge of a box and its label. */
const LABEL_GAP = 2;
export const LABEL_FONT = '10px system-ui, sans-serif';

/** The selected row or function. A picture from before a refresh may have other rows: times then say which it is. */
export interface SelectedBox {
  /** -1: what ran is selected. */
  row: number;
  times: { start: number; duration: number; track: number; lane: number } | undefined;
}

export interface BoxStyle {
  colours: CanvasColours;
  /** The colour of a box, by its number in the picture. */
  colourOf(box: number): string;
  /** Whether a merged box has stripes, because a mixed colour of it means something else. */
  isStriped(box: number): boolean;
  /** The colour of the share of a merged box that failed; undefined: only marks show it. */
  failedColour: string | undefined;
  /** The colour of the text on it. */
  inkOf(box: number): string;
  /** Names a box by its number in the picture. */
  nameOf(box: number): string;
  /** Undefined: nothing is dim. */
  lit: LitBoxes | undefined;
  selected: SelectedBox | undefined;
}

/** Draws the boxes of the picture, and their labels. */
export function drawBoxes(
  context: CanvasRenderingContext2D,
  picture: Picture,
  labels: Labels,
  style: BoxStyle,
): void {
  const { left, right, top, height, count, flags, failed } = picture;
  const { lit, failedColour } = style;
  const shares = Float32Array.from({ length: picture.size }, (_, box) => lit?.shareOf(box) ?? 1);
  for (let box = 0; box < picture.size; box++) {
    const [x, y, width] = [left[box]!, top[box]!, right[box]! - left[box]!];
    const share = shares[box]!;
    context.fillStyle = style.colourOf(box);
    context.globalAlpha = share === 1 ? 1 : DIM;
    if ((flags[box]! & INSTANT_BIT) !== 0 && count[box] === 1) {
      context.fillRect(x - 1, y, 3, height[box]!);
      continue;
    }
    // One pixel of the page between two boxes keeps them apart.
    const gap = width > 3 ? 1 : 0;
    if (count[box]! === 1) {
      context.fillRect(x, y, width - gap, height[box]!);
      continue;
    }
    const whole = wholeOf(height[box]!);
    const stripe = style.isStriped(box) ? STRIPE : Infinity;
    const fill = (part: number): void => {
      for (let at = 0; at < width - gap; at += 2 * stripe) {
        const size = Math.min(stripe, width - gap - at);
        context.fillRect(x + at, y + LIT_HEIGHT + whole - part, size, part);
      }
    };
    fill(whole);
    if (share < 1) {
      context.globalAlpha = 1;
      fill(litPart(whole, share));
    }
    if (failedColour === undefined || failed[box] === 0) continue;
    // Fewer than a pixel shows have their marks alone.
    context.fillStyle = failedColour;
    context.globalAlpha = share === 0 ? DIM : 1;
    fill(Math.round((whole * failed[box]!) / count[box]!));
  }
  context.globalAlpha = 1;
  if (lit !== undefined) drawLitPixels(context, picture, lit, style.colours.lit);
  drawMarks(context, picture, style.colours);
  drawLabels(context, picture, labels, style, shares);
  drawSelected(context, picture, style);
}

/** Height of what is coloured of a merged box. */
function wholeOf(height: number): number {
  return height - LIT_HEIGHT - 1;
}

/** How much of that is lit, from below. */
function litPart(whole: number, share: number): number {
  return share === 0 ? 0 : Math.max(1, Math.round(whole * share));
}

/** Where matches begin in merged boxes: above those, where no box is. */
function drawLitPixels(
  context: CanvasRenderingContext2D,
  { size, left, right, top, count }: Picture,
  lit: LitBoxes,
  colour: string,
): void {
  context.fillStyle = colour;
  for (let box = 0; box < size; box++) {
    if (count[box] === 1) continue;
    lit.eachPixel(box, (x) => {
      context.fillRect(
        Math.min(Math.max(x, left[box]!), right[box]! - 1),
        top[box]!,
        1,
        LIT_HEIGHT,
      );
    });
  }
}

/** Draws marks, because colour alone is not enough: a bar for errors, an open side for spans without an end. */
function drawMarks(
  context: CanvasRenderingContext2D,
  { size, left, right, top, height, flags, count, marks }: Picture,
  colours: CanvasColours,
): void {
  context.fillStyle = FAILED;
  for (const mark of marks) {
    const y = top[mark.box]! + height[mark.box]! - 2;
    context.fillRect(mark.left, y, mark.right - mark.left, 2);
  }
  for (let box = 0; box < size; box++) {
    const bits = flags[box]!;
    const failed = ((bits >> STATUS_SHIFT) & STATUS_MASK) === ERROR;
    if (!failed && (bits & UNFINISHED_BIT) === 0) continue;
    const width = right[box]! - left[box]!;
    if (failed && count[box] === 1) {
      context.fillStyle = FAILED;
      context.fillRect(left[box]!, top[box]! + height[box]! - 2, Math.max(1, width - 1), 2);
    }
    if ((bits & UNFINISHED_BIT) !== 0 && width >= 6) {
      context.fillStyle = colours.page;
      for (let y = 0; y < height[box]!; y += 4) {
        context.fillRect(right[box]! - 4, top[box]! + y, 4, 2);
      }
    }
  }
}

function drawLabels(
  context: CanvasRenderingContext2D,
  picture: Picture,
  labels: Labels,
  style: BoxStyle,
  shares: Float32Array,
): void {
  const { left, right, top, height, count, flags } = picture;
  context.font = LABEL_FONT;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  let ink = INK;
  context.fillStyle = ink;
  for (let box = 0; box < picture.size; box++) {
    const width = right[box]! - left[box]!;
    // Numbers in hundreds of merged boxes would hide how they lie: the tip has theirs.
    if (width < LABEL_WIDTH || shares[box] === 0 || count[box]! > 1) continue;
    const isFailed = ((flags[box]! >> STATUS_SHIFT) & STATUS_MASK) === ERROR;
    const shown = labels.fit(style.nameOf(box), width - 1 - LABEL_GAP, isFailed ? '✕ ' : '');
    if (shown === '') continue;
    const own = style.inkOf(box);
    const [x, y] = [left[box]! + LABEL_GAP, top[box]! + height[box]! / 2 + 0.5];
    picture.labelled += 1;
    if (own !== ink) context.fillStyle = ink = own;
    context.fillText(shown, x, y);
  }
}

function drawSelected(
  context: CanvasRenderingContext2D,
  picture: Picture,
  { selected, colours }: BoxStyle,
): void {
  if (selected === undefined) return;
  const { size, left, right, top, height } = picture;
  context.strokeStyle = colours.text;
  context.lineWidth = 2;
  for (let box = 0; box < size; box++) {
    if (!isSelected(picture, box, selected)) continue;
    context.strokeRect(left[box]!, top[box]!, right[box]! - left[box]!, height[box]!);
  }
}

function isSelected(picture: Picture, box: number, { row: selected, times }: SelectedBox): boolean {
  const { row, start, end, track, lane, samples } = picture;
  const isSample = samples[box]! > 0;
  if (isSample !== (selected === -1)) return false;
  if (times === undefined || !(isSample || picture.isExact(box))) return row[box] === selected;
  return (
    start[box] === times.start &&
    track[box] === times.track &&
    (!isSample || lane[box] === times.lane) &&
    Math.abs(end[box]! - times.start - times.duration) < 1
  );
}

/** The first box that is selected, or -1. */
export function selectedBox(picture: Picture, selected: SelectedBox | undefined): number {
  if (selected === undefined) return -1;
  for (let box = 0; box < picture.size; box++) if (isSelected(picture, box, selected)) return box;
  return -1;
}

/** The colour of a status, from a row's flags. Of a merged box: of those that did not fail. */
export function statusColour(flags: number, isMerged: boolean): string {
  if (isMerged && failedOf(flags) === 1) return STATUS_COLOURS[0];
  return STATUS_COLOURS[(flags >> STATUS_SHIFT) & STATUS_MASK] ?? STATUS_COLOURS[0];
}
