import { delayedText, interruptedText } from '../interruption-texts.js';
import type { GroupPicture, MpiRun, Report } from '../../shape/report-shape.js';
import { costText, NOTHING_DELAYED, tracesTitle, waitedText } from '../report-texts.js';
import { groupTitle } from '../../names/request-name.js';
import { groupTable, rateNote } from '../tables/group-tables.js';
import {
  interruptionTable,
  longStallTable,
  NOTHING_SLOWED,
  slowShareTable,
  stallLineTable,
} from '../tables/interruption-tables.js';
import type { ReportTable } from '../tables/report-table.js';
import { mpiTable } from '../tables/resource-tables.js';
import { endOfTrace, traceTable } from '../tables/tree-tables.js';
import type { Interruptions } from '../../shape/thread-shape.js';
import type { SlowTrace, TreeRow } from '../../shape/trace-shape.js';
import { timeText } from '../../measures/units.js';
import { latencyPicture, stripPicture } from './bar-pictures.js';
import { heatPicture, matrixPicture } from './cell-pictures.js';
import { htmlTable } from './html-table.js';
import type { HtmlColumn } from './html-table.js';
import { markup } from './html-text.js';
import type { Html } from './html-text.js';

function section(title: string, ...content: (Html | string)[]): Html {
  return markup`<h2>${title}</h2>
    ${content}`;
}

/** A table with its title; nothing if it has no rows. */
export function tableSection<T>(table: ReportTable<T>, ...further: (Html | string)[]): Html {
  return table.rows.length === 0 ? markup`` : section(table.title, htmlTable(table), ...further);
}

export function stripSection({ timeline, from, to, groups }: Report): Html {
  if (groups.length === 0) return markup``;
  return markup`<figure class="strip">
    <figcaption>Over time</figcaption>
    ${stripPicture(timeline)}
    <div class="ends"><span>${timeText(from)}</span><span>${timeText(to)}</span></div>
  </figure>`;
}

export function groupSection(report: Report): Html {
  const rates = rateNote(report);
  const note = rates === undefined ? '' : markup`<p class="weak">${rates}.</p>`;
  return tableSection(groupTable(report), note);
}

export function pictureSection({ groups, by }: Report, pictures: readonly GroupPicture[]): Html {
  if (pictures.length === 0) return markup``;
  const figures = pictures.map(({ histogram, heat }, at) => {
    const group = groups[at]!;
    const service = group.service === null ? '' : ` of ${group.service}`;
    return markup`<div class="pair">
      <figure>
        <figcaption>${groupTitle(group, by)}${service}</figcaption>
        ${latencyPicture(group, histogram)}
      </figure>
      <figure>
        <figcaption class="weak">the same over time</figcaption>
        ${heatPicture(heat)}
      </figure>
    </div>`;
  });
  return markup`<h2>Latency</h2>
    <p class="weak">
      How many took how long, and latency over time: the stronger the colour, the more.
    </p>
    <div class="pictures">${figures}</div>`;
}

/** Pictures of when each span of a trace ran. */
function laneColumn(trace: SlowTrace): HtmlColumn<TreeRow> {
  const end = endOfTrace(trace);
  const picture = (row: TreeRow): Html => markup`<div class="lane">${lane(row, end)}</div>`;
  return { title: '', unit: 'text', value: () => '', spare: 4, picture };
}

function lane({ start, duration, waited }: TreeRow, whole: number): Html {
  const x = (1000 * start) / whole;
  const width = Math.max(3, (1000 * duration) / whole);
  return markup`<svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
    <rect
      class="${waited > 0 ? 'onpath' : 'offpath'}"
      x="${Math.min(x, 997).toFixed(1)}"
      y="1"
      width="${width.toFixed(1)}"
      height="8"
    />
  </svg>`;
}

function traceFigure(trace: SlowTrace, number: number): Html {
  const { start, traceId } = trace;
  const table = traceTable(trace);
  const texts = [delayedText(trace), waitedText(trace), interruptedText(trace)]
    .filter((text) => text !== undefined)
    .map((text) => markup`<p>${text}</p>`);
  return markup`<section>
    <h3>${number}. ${table.title}</h3>
    <p class="weak">${timeText(start)}${traceId === null ? '' : `, trace ${traceId}`}</p>
    ${texts} ${htmlTable({ ...table, columns: [...table.columns, laneColumn(trace)] })}
  </section> `;
}

export function* traceSections(report: Report): Generator<Html, void> {
  const { slowest, slowestOf } = report;
  if (slowest.length === 0 && slowestOf === 'delayed') yield markup`<p>${NOTHING_DELAYED}</p>`;
  if (slowest.length === 0) return;
  yield section(
    tracesTitle(report),
    markup`<p class="weak">
      “Self” is the time in which no child ran. “Waited” is the time of the critical path that a
      span took itself.
    </p>`,
  );
  for (const [at, trace] of slowest.entries()) yield traceFigure(trace, at + 1);
}

export function interruptionSection(interruptions: Interruptions): Html {
  const lines = stallLineTable(interruptions);
  const stalls = longStallTable(interruptions);
  const shares = slowShareTable(interruptions);
  return tableSection(
    interruptionTable(interruptions),
    lines.rows.length === 0
      ? ''
      : markup`<h3>${lines.title}</h3>
          ${htmlTable(lines)}`,
    stalls.rows.length === 0
      ? ''
      : markup`<h3>${stalls.title}</h3>
          ${htmlTable(stalls)}`,
    ...(shares.rows.length === 0
      ? [markup`<p>${NOTHING_SLOWED}</p>`]
      : [markup`<p>${shares.title}</p>`, htmlTable(shares)]),
  );
}

/** The sentence on what the traces take on disk. */
export function costSection(report: Report): Html {
  return markup`<p class="weak">${costText(report)}.</p>`;
}

export function mpiSection(run: MpiRun): Html {
  const matrix = run.traffic.length === 0 ? '' : matrixPicture(run);
  return tableSection(mpiTable(run), matrix);
}
