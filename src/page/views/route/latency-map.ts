import type { LatencyColumns, LatencyMeta } from '../../../look/wire/view-answers.js';
import { LatencyAxis } from '../../../look/report/measures/latency-axis.js';
import { durationText, shareText } from '../../../look/report/measures/units.js';
import { PERCENTILE_LINES } from '../../charts/percentile-lines.js';
import { axisStep, tickText } from '../../time-line/axis-text.js';
import type { CanvasColours } from '../../theme/theme.js';

/** Pixels for the axis of durations, the histogram, the strip of errors, and the axis of time below that. */
const LEFT = 64;
const MOST_RIGHT = 120;
const STRIP = 26;
const AXIS = 20;
const BOTTOM = STRIP + AXIS;
const LABEL_HEIGHT = 14;
/** Pixels between two times of the axis, at least. */
const TICK_WIDTH = 110;

/** Pixels for the histogram. */
function rightOf(width: number): number {
  return Math.min(MOST_RIGHT, Math.round(width * 0.15));
}

/** A part of the map: numbers of columns and lines, both ends included. */
export interface Brush {
  firstColumn: number;
  lastColumn: number;
  firstLine: number;
  lastLine: number;
}

export interface LatencyMap extends LatencyMeta, LatencyColumns {}

/** Where a point of the canvas lies in the map, kept within it. */
export function cellAt(
  { columns, lines }: LatencyMap,
  width: number,
  height: number,
  x: number,
  y: number,
): { column: number; line: number } {
  const within = (value: number, most: number): number =>
    Math.max(0, Math.min(most - 1, Math.floor(value)));
  return {
    column: within(((x - LEFT) / (width - LEFT - rightOf(width))) * columns, columns),
    line: within((1 - y / (height - BOTTOM)) * lines, lines),
  };
}

export function orderedBrush(
  from: { column: number; line: number },
  to: { column: number; line: number },
): Brush {
  return {
    firstColumn: Math.min(from.column, to.column),
    lastColumn: Math.max(from.column, to.column),
    firstLine: Math.min(from.line, to.line),
    lastLine: Math.max(from.line, to.line),
  };
}

/** The ranges of a brush: ns of time and of duration. */
export function rangesOf(map: LatencyMap, brush: Brush) {
  const { from, to, columns, least, step } = map;
  const pixel = (to - from) / columns;
  return {
    from: from + brush.firstColumn * pixel,
    to: from + (brush.lastColumn + 1) * pixel,
    // The lowest line has shorter ones as well.
    least: brush.firstLine === 0 ? 0 : least * step ** brush.firstLine,
    most: least * step ** (brush.lastLine + 1),
  };
}

export function countIn({ counts, columns }: LatencyMap, brush: Brush): number {
  let count = 0;
  for (let line = brush.firstLine; line <= brush.lastLine; line++) {
    for (let column = brush.firstColumn; column <= brush.lastColumn; column++) {
      count += counts[line * columns + column]!;
    }
  }
  return count;
}

/** Spans of each line, whenever they began. */
export function lineSums({ counts, columns, lines }: LatencyMap): Float64Array {
  const sums = new Float64Array(lines);
  for (let at = 0; at < lines * columns; at++) sums[Math.floor(at / columns)]! += counts[at]!;
  return sums;
}

/** Draws the heat map (time to the right, duration upwards) and the histogram next to it. */
export function drawLatencyMap(
  context: CanvasRenderingContext2D,
  map: LatencyMap,
  brush: Brush | undefined,
  colours: CanvasColours,
  width: number,
  height: number,
): void {
  const { counts, columns, lines } = map;
  const [mapWidth, mapHeight] = [width - LEFT - rightOf(width), height - BOTTOM];
  const [cellWidth, cellHeight] = [mapWidth / columns, mapHeight / lines];
  context.clearRect(0, 0, width, height);
  const most = counts.reduce((max, count) => Math.max(max, count), 1);
  const sums = lineSums(map);
  context.fillStyle = colours.accent;
  for (let line = 0; line < lines; line++) {
    for (let column = 0; column < columns; column++) {
      const count = counts[line * columns + column]!;
      if (count === 0) continue;
      // Few must be visible next to many.
      context.globalAlpha = 0.15 + 0.85 * (Math.log1p(count) / Math.log1p(most));
      const top = mapHeight - (line + 1) * cellHeight;
      context.fillRect(LEFT + column * cellWidth, top, Math.max(1, cellWidth), cellHeight);
    }
  }
  context.globalAlpha = 1;
  const mostOfLine = sums.reduce((max, sum) => Math.max(max, sum), 1);
  for (let line = 0; line < lines; line++) {
    const length = (sums[line]! / mostOfLine) * (rightOf(width) - 12);
    const top = mapHeight - (line + 1) * cellHeight;
    context.fillRect(width - rightOf(width) + 8, top + 0.5, length, Math.max(1, cellHeight - 1));
  }
  for (const line of PERCENTILE_LINES.toReversed()) {
    drawPercentile(context, map, line, colours, [mapWidth, mapHeight]);
  }
  drawErrors(context, map, colours, [mapWidth, mapHeight]);
  drawAxes(context, map, colours, width, height);
  if (brush !== undefined) {
    context.strokeStyle = colours.text;
    context.lineWidth = 2;
    context.strokeRect(
      LEFT + brush.firstColumn * cellWidth,
      mapHeight - (brush.lastLine + 1) * cellHeight,
      (brush.lastColumn - brush.firstColumn + 1) * cellWidth,
      (brush.lastLine - brush.firstLine + 1) * cellHeight,
    );
  }
}

/** A line of one level for each stretch that has spans. */
function drawPercentile(
  context: CanvasRenderingContext2D,
  map: LatencyMap,
  { title, colour, width: thickness, dash }: (typeof PERCENTILE_LINES)[number],
  colours: CanvasColours,
  [width, height]: readonly [number, number],
): void {
  const length = (width / map.columns) * map.stretch;
  const axis = axisOf(map, height);
  const values = map[title];
  context.beginPath();
  for (const [at, value] of values.entries()) {
    if (value === 0) continue;
    const y = height - axis.at(value);
    const x = LEFT + at * length;
    if (at > 0 && values[at - 1]! > 0) context.lineTo(x, y);
    else context.moveTo(x, y);
    context.lineTo(Math.min(x + length, LEFT + width), y);
  }
  // A line of the page's colour around it keeps it apart from dark cells.
  context.strokeStyle = colours.page;
  context.lineWidth = thickness + 2;
  context.stroke();
  context.setLineDash([...dash]);
  context.strokeStyle = colours[colour];
  context.lineWidth = thickness;
  context.stroke();
  context.setLineDash([]);
}

/** The share of each column that failed, as a bar of the largest share. */
function drawErrors(
  context: CanvasRenderingContext2D,
  map: LatencyMap,
  colours: CanvasColours,
  [width, top]: readonly [number, number],
): void {
  const { columns } = map;
  const shares = Array.from({ length: columns }, (_, column) => {
    const { spans, errors } = figuresOf(map, column);
    return spans === 0 ? 0 : errors / spans;
  });
  const most = Math.max(...shares);
  const base = top + STRIP;
  context.fillStyle = colours.line;
  context.fillRect(LEFT, base - 1, width, 1);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.fillStyle = colours.quiet;
  context.fillText(most === 0 ? 'no error' : `${shareText(most)} err.`, LEFT - 4, base - STRIP / 2);
  context.fillStyle = colours.bad;
  for (const [column, share] of shares.entries()) {
    if (share === 0) continue;
    const size = Math.max(1, (share / most) * (STRIP - 6));
    const cell = width / columns;
    context.fillRect(LEFT + column * cell, base - size, Math.max(1, cell), size);
  }
}

/** Figures of a column's spans, of any duration; percentiles are those of its stretch. */
export function figuresOf(
  { counts, columns, stretch, lines, errors, p50, p95, p99 }: LatencyMap,
  column: number,
): Record<'spans' | 'errors' | 'p50' | 'p95' | 'p99', number> {
  let spans = 0;
  for (let line = 0; line < lines; line++) spans += counts[line * columns + column]!;
  const at = Math.floor(column / stretch);
  return { spans, errors: errors[column]!, p50: p50[at]!, p95: p95[at]!, p99: p99[at]! };
}

function axisOf({ least, step, lines }: LatencyMap, height: number): LatencyAxis {
  return new LatencyAxis(least, least * step ** lines, height);
}

function drawAxes(
  context: CanvasRenderingContext2D,
  map: LatencyMap,
  colours: CanvasColours,
  width: number,
  height: number,
): void {
  const { from, to } = map;
  const [mapWidth, mapHeight] = [width - LEFT - rightOf(width), height - BOTTOM];
  context.fillStyle = colours.quiet;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  const axis = axisOf(map, mapHeight);
  for (const tick of axis.ticks(LABEL_HEIGHT)) {
    context.fillText(durationText(tick), LEFT - 4, Math.max(6, mapHeight - axis.at(tick)));
  }
  context.textBaseline = 'bottom';
  const perNs = mapWidth / (to - from);
  const tickStep = axisStep(TICK_WIDTH / perNs);
  context.textAlign = 'center';
  for (let tick = Math.ceil(from / tickStep); tick * tickStep <= to; tick++) {
    const time = tick * tickStep;
    context.fillText(tickText(time, tickStep), LEFT + (time - from) * perNs, height);
  }
}
