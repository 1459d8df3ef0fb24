import { delayedText, interruptedText } from '../interruption-texts.js';
import type {
  GroupPicture,
  Interruptions,
  MpiRun,
  Report,
  SlowTrace,
  TreeRow,
} from '../report-shape.js';
import { costText, NOTHING_DELAYED, tracesTitle } from '../report-texts.js';
import { groupTitle } from '../request-name.js';
import { errorsTitle, errorTable } from '../tables/error-table.js';
import {
  groupsTitle,
  groupTable,
  groupWaitTable,
  rateNote,
  waitTitle,
} from '../tables/group-tables.js';
import {
  interruptionTable,
  INTERRUPTIONS_TITLE,
  LONGEST_TITLE,
  longStallTable,
  NOTHING_SLOWED,
  slowShareTable,
  slowShareText,
} from '../tables/interruption-tables.js';
import { mpiTable, mpiTitle } from '../tables/mpi-table.js';
import { openTable, openTitle } from '../tables/open-table.js';
import { POOLS_TITLE, poolTable } from '../tables/pool-table.js';
import { lossTable, sourceTable } from '../tables/source-tables.js';
import { threadTable } from '../tables/thread-table.js';
import { endOfTrace, traceTable, traceTitle } from '../tables/trace-table.js';
import { timeText } from '../units.js';
import { waitedText, waitingGroups } from '../wait-texts.js';
import { heatPicture } from './heat-picture.js';
import { htmlTable } from './html-table.js';
import type { HtmlColumn } from './html-table.js';
import { markup } from './html-text.js';
import type { Html } from './html-text.js';
import { latencyPicture } from './latency-picture.js';
import { matrixPicture } from './matrix-picture.js';
import { stripPicture } from './strip-picture.js';

function section(title: string, ...content: (Html | string)[]): Html {
  return markup`<h2>${title}</h2>
    ${content}`;
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
  const { groups } = report;
  if (groups.length === 0) return markup``;
  const rates = rateNote(report);
  const note = rates === undefined ? '' : markup`<p class="weak">${rates}.</p>`;
  return section(groupsTitle(report), htmlTable(groupTable(report)), note);
}

export function groupWaitSection(report: Report): Html {
  if (waitingGroups(report.groups).length === 0) return markup``;
  return section(waitTitle(report), htmlTable(groupWaitTable(report)));
}

export function errorSection({ errors }: Report): Html {
  return errors.count === 0
    ? markup``
    : section(errorsTitle(errors), htmlTable(errorTable(errors)));
}

export function poolSection({ pools }: Report): Html {
  return pools.length === 0 ? markup`` : section(POOLS_TITLE, htmlTable(poolTable(pools)));
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
    <h3>${number}. ${traceTitle(trace)}</h3>
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
  if (interruptions.threads.length === 0) return markup``;
  const stalls = longStallTable(interruptions);
  const shares = slowShareTable(interruptions);
  return section(
    INTERRUPTIONS_TITLE,
    htmlTable(interruptionTable(interruptions)),
    stalls.rows.length === 0
      ? ''
      : markup`<h3>${LONGEST_TITLE}</h3>
          ${htmlTable(stalls)}`,
    ...(shares.rows.length === 0
      ? [markup`<p>${NOTHING_SLOWED}</p>`]
      : [markup`<p>${slowShareText(interruptions)}</p>`, htmlTable(shares)]),
  );
}

export function openSection(report: Report): Html {
  const { open } = report;
  return open.count === 0 ? markup`` : section(openTitle(report), htmlTable(openTable(open)));
}

/** What the traces take on disk. */
export function costSection(report: Report): Html {
  return markup`<p class="weak">${costText(report)}.</p>`;
}

export function threadSection({ threads }: Report): Html {
  return threads.length === 0 ? markup`` : section('Threads', htmlTable(threadTable(threads)));
}

export function mpiSection(run: MpiRun): Html {
  const matrix = run.traffic.length === 0 ? '' : matrixPicture(run);
  return section(mpiTitle(run), htmlTable(mpiTable(run)), matrix);
}

export function lossSection(report: Report): Html {
  return report.losses.length === 0
    ? markup``
    : section('What was lost', htmlTable(lossTable(report)));
}

export function sourceSection(report: Report): Html {
  return section('Recordings', htmlTable(sourceTable(report)));
}
