import type { CanvasColours } from '../theme/theme.js';
import { pixelOf } from './collect-boxes.js';
import type { Scale } from './collect-boxes.js';
import type { Curve } from '../data/curves.js';
import { axisStep, tickText, valueText } from './axis-text.js';
import type { Labels } from './labels.js';
import { LOAD_HEIGHT } from './lines.js';
import type { CurveLine, HeadLine, Line, TrackLine } from './lines.js';

export const AXIS_HEIGHT = 22;
export const TEXT_FONT = '11px system-ui, sans-serif';
export const HEAD_FONT = '600 12px system-ui, sans-serif';

/**
 * Ticks, their times, and lines down through the tracks.
 *
 * @param begin from which the times count, in words; undefined: it is not known.
 */
export function drawAxis(
  context: CanvasRenderingContext2D,
  scale: Scale,
  height: number,
  begin: string | undefined,
  labels: Labels,
  colours: CanvasColours,
): void {
  const step = axisStep(((scale.to - scale.from) / scale.width) * 110);
  context.fillStyle = colours.band;
  context.fillRect(0, 0, scale.left + scale.width, AXIS_HEIGHT);
  context.font = TEXT_FONT;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  if (begin !== undefined && scale.left > 0) {
    context.fillStyle = colours.quiet;
    context.fillText(labels.fit(`since ${begin}`, scale.left - 20), 14, AXIS_HEIGHT / 2);
  }
  const first = Math.ceil(scale.from / step);
  for (let tick = first; tick * step <= scale.to; tick++) {
    const x = Math.round(pixelOf(scale, tick * step));
    context.fillStyle = colours.line;
    context.fillRect(x, 0, 1, height);
    const text = tickText(tick * step, step);
    const room = scale.left + scale.width - x - 4;
    if (context.measureText(text).width > room) continue;
    context.fillStyle = colours.quiet;
    context.fillText(text, x + 4, AXIS_HEIGHT / 2);
  }
}

/** The band of a process with its title. */
export function drawHead(
  context: CanvasRenderingContext2D,
  { text, height }: HeadLine,
  top: number,
  width: number,
  isClosed: boolean,
  labels: Labels,
  colours: CanvasColours,
): void {
  context.fillStyle = colours.band;
  context.fillRect(0, top, width, height - 1);
  context.fillStyle = colours.text;
  context.font = HEAD_FONT;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  const shown = labels.fit(text, width - 12, isClosed ? '▸ ' : '▾ ');
  context.fillText(shown, 6, top + height / 2);
}

/** The names of tracks and curves: in the column on the left, or above each where there is none. */
export function drawNames(
  context: CanvasRenderingContext2D,
  lines: readonly Line[],
  top: number,
  { left: gutter, width }: Scale,
  labels: Labels,
  colours: CanvasColours,
): void {
  context.font = TEXT_FONT;
  context.textBaseline = 'top';
  context.textAlign = 'left';
  for (const line of lines) {
    if (line.kind === 'head') continue;
    context.fillStyle = colours.quiet;
    const most = line.kind === 'curve' && line.height > LOAD_HEIGHT ? mostText(line) : '';
    const y = top + line.y + 1;
    const lanes = line.kind === 'track' ? lanesText(line) : '';
    if (gutter === 0) {
      const words = [line.text, most, lanes].filter((text) => text !== '').join(', ');
      context.fillText(labels.fit(words, width - 8), 4, y);
      continue;
    }
    context.fillText(labels.fit(line.text, gutter - 20), 14, y);
    if (most !== '') context.fillText(labels.fit(most, gutter - 20), 14, y + 15);
    if (lanes === '' || line.kind !== 'track') continue;
    const last = y + (line.lanes - 1) * line.laneHeight;
    context.fillText(labels.fit(lanes, gutter - 20), 14, last);
  }
}

/** That lanes are folded, or can be folded again. */
function lanesText({ folded, isOpen, lanes }: TrackLine): string {
  if (isOpen) return `▾ fold ${lanes} lanes`;
  return folded > 0 ? `▸ ${folded} more lanes` : '';
}

/** The largest value of a curve, and of its scale if another process has a larger one. */
function mostText({ max, isMean, scale, unit }: CurveLine): string {
  const what = isMean ? 'mean, max' : 'max';
  if (scale <= max) return `${what} ${valueText(max, unit)}`;
  // A unit that is a word is said once: there is little room.
  const own = valueText(max, unit === 'ns' || unit === 'ratio' || unit === 'bytes' ? unit : '');
  return `${what} ${own}, scale ${valueText(scale, unit)}`;
}

/** A curve as steps: a value holds until the next one, or until its process has ended. */
export function drawCurve(
  context: CanvasRenderingContext2D,
  { height: whole, nameHeight, scale: most, end: last }: CurveLine,
  curve: Curve | undefined,
  scale: Scale,
  top: number,
  colours: CanvasColours,
): void {
  const height = whole - nameHeight;
  const base = top + whole - 3;
  context.fillStyle = colours.line;
  context.fillRect(scale.left, base, scale.width, 1);
  if (curve === undefined || most <= 0) return;
  const perUnit = (height - 8) / most;
  context.fillStyle = colours.curve;
  const { time, high } = curve;
  const right = scale.left + scale.width;
  const edge = last === null ? right : Math.min(right, Math.round(pixelOf(scale, last)));
  for (let at = 0; at < time.length; at++) {
    const x = Math.max(scale.left, Math.round(pixelOf(scale, time[at]!)));
    const until = at + 1 < time.length ? pixelOf(scale, time[at + 1]!) : edge;
    const end = Math.min(edge, Math.round(until));
    const size = Math.round(high[at]! * perUnit);
    if (size > 0 && end >= x) context.fillRect(x, base - size, Math.max(1, end - x), size);
  }
}
