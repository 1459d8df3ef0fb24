import {
  clockText,
  bytesText,
  countText,
  durationText,
  rateText,
  shareText,
  timeText,
} from '../units.js';
import type {
  GroupPicture,
  MpiRun,
  Report,
  SlowShare,
  SlowTrace,
  TreeRow,
} from '../report-shape.js';
import { groupTitle, nameWithDetail, nameWithPath, nameWithTarget } from '../request-name.js';
import { STATE_TEXTS } from '../state-texts.js';
import {
  delayedText,
  interruptedText,
  rateNote,
  slowShareText,
  waitShares,
} from '../text/text-sections.js';
import { errorCountTitle, errorTypeText, errorsTitle } from '../error-texts.js';
import { causeText, countsText } from '../interruption-texts.js';
import { openText } from '../open-texts.js';
import { branches, remarksOn } from '../text/text-tree.js';
import { GROUP_TITLES, NOTHING_DELAYED, traceTitle, waitTitle } from '../text/text-report.js';
import { longestWaits, waitNameOf, waitingGroups } from '../wait-texts.js';
import { heatPicture } from './heat-picture.js';
import { htmlTable } from './html-table.js';
import { markup } from './html-text.js';
import type { Html } from './html-text.js';
import { latencyPicture } from './latency-picture.js';
import { matrixPicture } from './matrix-picture.js';
import { stripPicture } from './strip-picture.js';

/** Rows of the tables. `--json` has all of them. */
const MAX_GROUPS = 200;
const MAX_ROWS = 100;
const MAX_TREE_ROWS = 60;

function more(all: number, shown: number): Html {
  return all > shown
    ? markup`<p class="weak">${countText(all - shown)} more are not shown.</p>`
    : markup``;
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
  const { groups, by } = report;
  if (groups.length === 0) return markup``;
  const table = htmlTable(
    [
      { title: by, kind: 'w', cell: (group) => groupTitle(group, by) },
      { title: 'service', kind: 'x', cell: ({ service }) => service ?? '' },
      { title: 'count', kind: 'n', cell: ({ count }) => countText(count) },
      { title: 'rate', kind: 'n', cell: ({ rate }) => rateText(rate) },
      {
        title: 'errors',
        kind: 'n',
        cell: ({ errors }) => countText(errors),
        isBad: ({ errors }) => errors > 0,
      },
      { title: 'p50', kind: 'n', cell: ({ p50 }) => durationText(p50) },
      { title: 'p95', kind: 'n', cell: ({ p95 }) => durationText(p95) },
      { title: 'p99', kind: 'n', cell: ({ p99 }) => durationText(p99) },
      { title: 'max', kind: 'n', cell: ({ max }) => durationText(max) },
      { title: 'total', kind: 'n', cell: ({ total }) => durationText(total) },
      { title: 'share', kind: 'n', cell: ({ share }) => shareText(share) },
    ],
    groups.slice(0, MAX_GROUPS),
  );
  const rates = rateNote(report);
  return markup`<h2>${GROUP_TITLES[by]}</h2>
    ${table}${more(groups.length, MAX_GROUPS)}
    ${rates === undefined ? '' : markup`<p class="weak">${rates}.</p>`}`;
}

export function errorSection({ errors }: Report): Html {
  const { count, types } = errors;
  if (count === 0) return markup``;
  const table = htmlTable(
    [
      { title: 'type', kind: 'w', cell: errorTypeText },
      { title: 'span', kind: 'w', cell: ({ name }) => name },
      { title: 'service', kind: 'x', cell: ({ service }) => service ?? '' },
      { title: errorCountTitle(errors), kind: 'n', cell: ({ count: own }) => countText(own) },
    ],
    types.slice(0, MAX_ROWS),
  );
  return markup`<h2>${errorsTitle(errors)}</h2>
    ${table}${more(types.length, MAX_ROWS)}`;
}

export function groupWaitSection({ groups, by }: Report): Html {
  const waiting = waitingGroups(groups);
  if (waiting.length === 0) return markup``;
  const table = htmlTable(
    [
      { title: by, cell: (group) => groupTitle(group, by) },
      { title: 'service', kind: 'x', cell: ({ service }) => service ?? '' },
      {
        title: 'looked at',
        kind: 'n',
        cell: ({ sampled, count }) => `${countText(sampled)} of ${countText(count)}`,
      },
      { title: 'waited for', kind: 'w', cell: waitShares },
    ],
    waiting,
  );
  return markup`<h2>${waitTitle(by)}</h2>
    ${table}`;
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
  const { service, duration, start, traceId, rows, omitted } = trace;
  const waits = longestWaits(trace);
  const shown = rows.slice(0, MAX_TREE_ROWS);
  const prefixes = branches(shown);
  const whole = rows.reduce((end, row) => Math.max(end, row.start + row.duration), 1);
  const several = new Set(rows.map((row) => row.service)).size > 1;
  const waited = waits.map(
    (each, at) =>
      markup`${at === 0 ? '' : ', '}${waitNameOf(each)} ${durationText(each.time)} (${shareText(each.share)})`,
  );
  const table = htmlTable(
    [
      { title: 'time', kind: 'n', cell: ({ row }) => durationText(row.duration) },
      { title: 'self', kind: 'n', cell: ({ row }) => durationText(row.self) },
      { title: 'waited', kind: 'n', cell: ({ row }) => durationText(row.waited) },
      {
        title: 'span',
        kind: 'w',
        cell: ({ row, prefix }) =>
          markup`<span class="branch">${prefix}</span>${nameWithTarget(row)}${remarksOn(row)}`,
        isBad: ({ row }) => row.status === 'error',
      },
      ...(several
        ? [{ title: 'service', kind: 'x' as const, cell: ({ row }: Line) => row.service ?? '' }]
        : []),
      {
        title: '',
        kind: 'x',
        cell: ({ row }) => markup`<div class="lane">${lane(row, whole)}</div>`,
      },
    ],
    shown.map((row, at): Line => ({ row, prefix: prefixes[at]! })),
  );
  const interrupted = interruptedText(trace);
  const delayed = delayedText(trace);
  const hidden = rows.slice(MAX_TREE_ROWS).reduce((sum, row) => sum + row.repeated, omitted);
  return markup`<section>
    <h3>
      ${number}. ${nameWithPath(trace)}${service === null ? '' : ` of ${service}`}: ${durationText(duration)}
    </h3>
    <p class="weak">${timeText(start)}${traceId === null ? '' : `, trace ${traceId}`}</p>
    ${delayed === undefined ? '' : markup`<p>${delayed}</p>`}
    ${waits.length === 0 ? '' : markup`<p>Waited for ${waited}${interrupted === undefined ? '' : `; ${interrupted}`}.</p>`}
    ${table}${more(hidden, 0)}
  </section> `;
}

interface Line {
  row: TreeRow;
  prefix: string;
}

export function* traceSections(report: Report): Generator<Html, void> {
  const { slowest, slowestOf } = report;
  if (slowest.length === 0 && slowestOf === 'delayed') yield markup`<p>${NOTHING_DELAYED}</p>`;
  if (slowest.length === 0) return;
  yield markup`<h2>${traceTitle(report)}</h2>
    <p class="weak">
      “Self” is the time in which no child ran. “Waited” is the time of the critical path that a
      span took itself.
    </p>`;
  for (const [at, trace] of slowest.entries()) yield traceFigure(trace, at + 1);
}

export function interruptionSection({ interruptions }: Report): Html {
  const { threads, longest, slow } = interruptions;
  if (threads.length === 0) return markup``;
  const table = htmlTable(
    [
      { title: 'what', kind: 'w', cell: ({ name }) => name },
      { title: 'service', kind: 'x', cell: ({ service }) => service ?? '' },
      { title: 'process', kind: 'n', cell: ({ pid }) => pid ?? '' },
      { title: 'thread', kind: 'x', cell: ({ thread }) => thread },
      { title: 'count', kind: 'n', cell: ({ count }) => countText(count) },
      { title: 'total', kind: 'n', cell: ({ total }) => durationText(total) },
      { title: 'longest', kind: 'n', cell: ({ max }) => durationText(max) },
    ],
    threads.slice(0, MAX_ROWS),
  );
  const stalls = htmlTable(
    [
      { title: 'longest stalls', kind: 'n', cell: ({ duration }) => durationText(duration) },
      { title: 'cause', kind: 'x', cell: causeText },
      { title: 'service', kind: 'x', cell: ({ service }) => service ?? '' },
      { title: 'thread', kind: 'x', cell: ({ thread }) => thread },
      { title: 'at', kind: 'n', cell: ({ start }) => timeText(start) },
      { title: 'ran', kind: 'w', cell: ({ ran }) => countsText(ran) },
      { title: 'delayed', kind: 'w', cell: ({ delayed }) => countsText(delayed) },
    ],
    longest,
  );
  const explained = slow.filter(({ either }) => either > 0);
  const shares =
    explained.length === 0
      ? markup`<p>The slowest 5 % of each group did not meet any of these.</p>`
      : markup`<p>${slowShareText(slow)}</p>
          ${htmlTable(
            [
              { title: 'slowest 5 % of', kind: 'w', cell: ({ name }) => name },
              { title: 'count', kind: 'n', cell: ({ count }) => countText(count) },
              { title: 'time', kind: 'n', cell: ({ time }) => durationText(time) },
              { title: 'stalls', kind: 'n', cell: (row) => shareText(row.stalls / row.time) },
              { title: 'gc', kind: 'n', cell: (row) => shareText(row.collections / row.time) },
              ...(slow.some(({ called }) => called > 0)
                ? [
                    {
                      title: 'called',
                      kind: 'n' as const,
                      cell: (row: SlowShare) => shareText(row.called / row.time),
                    },
                  ]
                : []),
              { title: 'any', kind: 'n', cell: (row) => shareText(row.either / row.time) },
            ],
            explained,
          )}`;
  return markup`<h2>Stalls of event loops and garbage collections</h2>
    ${table}${longest.length === 0 ? '' : stalls}${shares}`;
}

export function openSection({ open }: Report): Html {
  if (open.count === 0) return markup``;
  const shown = open.spans.slice(0, MAX_ROWS);
  const prefixes = branches(shown);
  const table = htmlTable(
    [
      { title: 'open for', kind: 'n', cell: ({ span }) => durationText(span.age) },
      {
        title: 'span',
        kind: 'w',
        cell: ({ span, prefix }) =>
          markup`<span class="branch">${prefix}</span>${nameWithDetail(span)}`,
      },
      { title: 'service', kind: 'x', cell: ({ span }) => span.service ?? '' },
      { title: 'thread', kind: 'x', cell: ({ span }) => span.thread },
      { title: 'since', kind: 'n', cell: ({ span }) => timeText(span.start) },
    ],
    shown.map((span, at) => ({ span, prefix: prefixes[at]! })),
  );
  return markup`<h2>Open at the end: ${openText(open)}</h2>
    ${table}${more(open.spans.length + open.omitted, shown.length)}`;
}

export function threadSection({ threads }: Report): Html {
  if (threads.length === 0) return markup``;
  const table = htmlTable(
    [
      { title: 'thread', kind: 'w', cell: ({ thread }) => thread },
      { title: 'service', kind: 'x', cell: ({ service }) => service ?? '' },
      { title: 'process', kind: 'n', cell: ({ pid }) => pid ?? '' },
      { title: 'kind', kind: 'x', cell: ({ kind }) => (kind === 'thread' ? 'spans' : kind) },
      { title: 'records', kind: 'n', cell: ({ spans }) => countText(spans) },
      { title: 'active', kind: 'n', cell: ({ share }) => shareText(share) },
      {
        title: 'loop busy',
        kind: 'n',
        cell: ({ utilisation }) => (utilisation === null ? '' : shareText(utilisation)),
      },
      {
        title: 'stalled',
        kind: 'n',
        cell: ({ stalls }) => (stalls > 0 ? durationText(stalls) : ''),
      },
      {
        title: 'gc',
        kind: 'n',
        cell: ({ collections }) => (collections > 0 ? durationText(collections) : ''),
      },
    ],
    threads.slice(0, MAX_ROWS),
  );
  return markup`<h2>Threads</h2>
    ${table}${more(threads.length, MAX_ROWS)}`;
}

export function mpiSection(run: MpiRun): Html {
  const table = htmlTable(
    [
      { title: 'call', kind: 'w', cell: ({ name }) => name },
      { title: 'count', kind: 'n', cell: ({ count }) => countText(count) },
      { title: 'bytes', kind: 'n', cell: ({ bytes }) => (bytes === null ? '' : bytesText(bytes)) },
      { title: 'total', kind: 'n', cell: ({ total }) => durationText(total) },
      { title: 'p50', kind: 'n', cell: ({ p50 }) => durationText(p50) },
      { title: 'p95', kind: 'n', cell: ({ p95 }) => durationText(p95) },
      { title: 'max', kind: 'n', cell: ({ max }) => durationText(max) },
    ],
    run.calls.slice(0, MAX_GROUPS),
  );
  const matrix = run.traffic.length === 0 ? '' : matrixPicture(run);
  return markup`<h2>MPI calls</h2>
    <p class="weak">${countText(run.ranks)} ranks, ${run.path}</p>
    ${table}${matrix}`;
}

export function lossSection({ losses }: Report): Html {
  if (losses.length === 0) return markup``;
  const table = htmlTable(
    [
      { title: 'what was lost', kind: 'w', cell: ({ reason }) => reason, isBad: () => true },
      { title: 'recording', cell: ({ path }) => path },
    ],
    losses.slice(0, MAX_ROWS),
  );
  return markup`<h2>What was lost</h2>
    ${table}${more(losses.length, MAX_ROWS)}`;
}

export function sourceSection({ sources }: Report): Html {
  const table = htmlTable(
    [
      { title: 'recording', kind: 'w', cell: ({ path }) => path },
      { title: 'format', cell: ({ format }) => format },
      { title: 'service', cell: ({ service }) => service ?? '' },
      { title: 'host', kind: 'x', cell: ({ host }) => host ?? '' },
      {
        title: 'clock',
        kind: 'x',
        cell: ({ clockOffset, clockError }) => clockText(clockOffset, clockError),
      },
      { title: 'process', kind: 'n', cell: ({ pid }) => pid ?? '' },
      { title: 'state', kind: 'x', cell: ({ state }) => STATE_TEXTS[state] },
      { title: 'records', kind: 'n', cell: ({ rows }) => countText(rows) },
    ],
    sources.slice(0, MAX_ROWS),
  );
  return markup`<h2>Recordings</h2>
    ${table}${more(sources.length, MAX_ROWS)}`;
}
