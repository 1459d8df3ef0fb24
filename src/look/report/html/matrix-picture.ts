import { bytesText, countText } from '../units.js';
import type { MpiRun } from '../report-shape.js';
import { cellPaths, shadeOf } from './cell-paths.js';
import { markup } from './html-text.js';
import type { Html } from './html-text.js';

/** With more ranks, a cell is for a block of them. */
const MAX_CELLS = 64;
/** With more ranks, cells say no figures. */
const MAX_SAYING = 32;
const SIZE = 300;
const MARGIN = 34;

/** What rank sends how much to which. Bytes, or messages if the bytes are not known. */
export function matrixPicture({ ranks, traffic }: MpiRun): Html {
  const block = Math.ceil(ranks / MAX_CELLS);
  const cells = Math.max(1, Math.ceil(ranks / block));
  const known = traffic.every(({ bytes }) => bytes !== null);
  const amounts = new Float64Array(cells * cells);
  for (const { from, to, bytes, messages } of traffic) {
    const place = Math.floor(from / block) * cells + Math.floor(to / block);
    amounts[place]! += known ? bytes! : messages;
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
