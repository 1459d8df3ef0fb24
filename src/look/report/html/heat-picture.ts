import { durationText } from '../units.js';
import type { HeatMap } from '../report-shape.js';
import { cellPaths, shadeOf } from './cell-paths.js';
import { markup } from './html-text.js';
import type { Html } from './html-text.js';
import { LatencyAxis } from './latency-picture.js';

const WIDTH = 480;
const HEIGHT = 150;
const LEFT = 52;
/** Labels of latency are at least so far apart. */
const LABEL_HEIGHT = 24;

/** Latency over time: the darker a cell, the more spans. Rows are logarithmic. */
export function heatPicture({ columns, rows, perOctave, least, counts }: HeatMap): Html {
  const most = counts.reduce((high, count) => Math.max(high, count), 0);
  const shade = (column: number, row: number): number =>
    shadeOf(counts[(rows - 1 - row) * columns + column]!, most);
  const height = HEIGHT / rows;
  const axis = new LatencyAxis(least, least * 2 ** (rows / perOctave), HEIGHT);
  const labels = axis.ticks(LABEL_HEIGHT).map((tick) => {
    const y = Math.min(Math.max(HEIGHT - axis.at(tick) + 4, 9), HEIGHT - 1);
    return markup`<text x="${LEFT - 6}" y="${y.toFixed(1)}" text-anchor="end">${durationText(tick)}</text>`;
  });
  const width = WIDTH - LEFT;
  return markup`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Latency over time">
    <rect class="ground" x="${LEFT}" y="0" width="${width}" height="${HEIGHT}" />
    <g transform="translate(${LEFT} 0) scale(${(width / columns).toFixed(4)} ${height.toFixed(4)})">
      ${cellPaths(columns, rows, shade)}
    </g>
    ${labels}
  </svg>`;
}
