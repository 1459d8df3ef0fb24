import type { HeatMap, MpiRun } from '../../shape/report-shape.js';
import { bytesText, countText, durationText } from '../../measures/units.js';
import { Html, markup } from './html-text.js';
import { LatencyAxis } from '../../measures/latency-axis.js';

/** Shades of a cell, from few to many. */
const SHADES = 6;

/** The shade of a cell with this count, from 1; 0: it has none. Each shade is a factor more. */
function shadeOf(count: number, most: number): number {
  if (count <= 0) return 0;
  if (most <= 1) return SHADES;
  return 1 + Math.min(SHADES - 1, Math.floor((SHADES * Math.log(count)) / (Math.log(most) + 1e-9)));
}

/** Cells of a grid as one path for each shade. Neighbours in a row are one rectangle. */
function cellPaths(
  columns: number,
  rows: number,
  shade: (column: number, row: number) => number,
): Html {
  const paths = new Array<string>(SHADES + 1).fill('');
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns;) {
      const own = shade(column, row);
      let width = 1;
      while (column + width < columns && shade(column + width, row) === own) width++;
      if (own > 0) paths[own]! += `M${column} ${row}h${width}v1h-${width}z`;
      column += width;
    }
  }
  const drawn = paths.map((path, own) =>
    path === '' ? '' : new Html(`<path class="h${own}" d="${path}"/>`),
  );
  return markup`${drawn}`;
}

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

/** With more ranks, a cell is for a block of them. */
const MAX_CELLS = 64;
/** With more ranks, cells say no figures. */
const MAX_SAYING = 32;
const SIZE = 300;
const MARGIN = 34;

/** Draws how much each rank sends to each other: bytes, or messages if the bytes are not known. */
export function matrixPicture({ ranks, traffic }: MpiRun): Html {
  const block = Math.ceil(ranks / MAX_CELLS);
  const cells = Math.max(1, Math.ceil(ranks / block));
  const known = traffic.every(({ bytes }) => bytes !== null);
  const amounts = new Float64Array(cells * cells);
  for (const { from, to, bytes, messages } of traffic) {
    const pair = Math.floor(from / block) * cells + Math.floor(to / block);
    amounts[pair]! += known ? bytes! : messages;
  }
  const most = amounts.reduce((high, amount) => Math.max(high, amount), 0);
  const shade = (column: number, row: number): number =>
    shadeOf(amounts[row * cells + column]!, most);
  const cell = SIZE / cells;
  const saying =
    ranks > MAX_SAYING
      ? []
      : traffic.map(({ from, to, bytes, messages }) => {
          const amount = bytes === null ? '' : `, ${bytesText(bytes)}`;
          const title = `rank ${from} to rank ${to}: ${countText(messages)} messages${amount}`;
          return markup`<rect
            x="${(MARGIN + to * cell).toFixed(1)}"
            y="${(MARGIN + from * cell).toFixed(1)}"
            width="${cell.toFixed(1)}"
            height="${cell.toFixed(1)}"
            fill-opacity="0"
            ><title>${title}</title></rect
          >`;
        });
  const every = Math.max(1, Math.ceil(cells / 16));
  const labels = Array.from({ length: cells }, (_, at) => at)
    .filter((at) => at % every === 0)
    .map((at) => {
      const middle = (MARGIN + (at + 0.5) * cell).toFixed(1);
      return markup`<text x="${middle}" y="${MARGIN - 5}" text-anchor="middle">${at * block}</text
        ><text x="${MARGIN - 5}" y="${(Number(middle) + 4).toFixed(1)}" text-anchor="end"
          >${at * block}</text
        >`;
    });
  const whole = SIZE + MARGIN + 2;
  return markup`<figure class="matrix">
    <figcaption>${known ? 'Bytes' : 'Messages'} from rank (down) to rank (across)</figcaption>
    <svg viewBox="0 0 ${whole} ${whole}" role="img" aria-label="Rank matrix">
      <rect class="ground" x="${MARGIN}" y="${MARGIN}" width="${SIZE}" height="${SIZE}" />
      <g transform="translate(${MARGIN} ${MARGIN}) scale(${cell.toFixed(4)})">
        ${cellPaths(cells, cells, shade)}
      </g>
      ${labels}${saying}
    </svg>
  </figure>`;
}
