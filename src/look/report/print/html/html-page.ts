import { findingTable } from '../tables/finding-table.js';
import { openTable } from '../tables/tree-tables.js';
import { memoryTable, poolTable, profileTable, threadTable } from '../tables/resource-tables.js';
import { errorTable } from '../tables/error-table.js';
import { groupWaitTable } from '../tables/group-tables.js';
import { lossTable, sourceTable } from '../tables/source-tables.js';
import { createHash } from 'node:crypto';
import { incompleteText, summaryText } from '../report-texts.js';
import { hintTexts } from '../hint-texts.js';
import { timeText } from '../../measures/units.js';
import type { IllustratedReport } from '../../report.js';
import {
  groupSection,
  interruptionSection,
  mpiSection,
  pictureSection,
  stripSection,
  costSection,
  traceSections,
  tableSection,
} from './html-sections.js';
import { Html, markup } from './html-text.js';

/** The page's style sheet. Its hash is in the page's policy, so no other style applies. */
const PAGE_STYLE = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--weak:#59636e;--line:#d5dae0;--soft:#f4f6f8;--bar:#3b78c3;--bad:#c2271f;--mark:#a15c00;
--h1:#d6e6f7;--h2:#a9cbee;--h3:#74a9df;--h4:#4486ca;--h5:#2461a6;--h6:#123f78}
@media (prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#e4e8ec;--weak:#9aa5b1;--line:#343c46;--soft:#1c2229;--bar:#6ba4e8;--bad:#ff7b72;--mark:#e3a54a;
--h1:#1d3450;--h2:#24507f;--h3:#2f6fb0;--h4:#5493d6;--h5:#8dbcee;--h6:#d4e7fb}}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--weak:#444;--line:#bbb;--soft:#fff;--bar:#3b78c3;--bad:#a00;--mark:#a15c00;
--h1:#d6e6f7;--h2:#a9cbee;--h3:#74a9df;--h4:#4486ca;--h5:#2461a6;--h6:#123f78}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}figure,tr,h2,h3{break-inside:avoid}h2,h3{break-after:avoid}.scroll{overflow:visible}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:2400px;margin:0 auto;padding:1.25rem clamp(.75rem,2.5vw,3rem) 3rem}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}
h3{font-size:1rem;margin:1.25rem 0 .25rem;overflow-wrap:anywhere}p{margin:.25rem 0 .6rem;overflow-wrap:anywhere}
.weak{color:var(--weak)}.bad{color:var(--bad)}.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem}
th{color:var(--weak);font-weight:600;text-align:left;white-space:nowrap;border-bottom:1px solid var(--line)}
th,td{padding:.22rem 1.1rem .22rem 0;vertical-align:top}td{border-bottom:1px solid var(--soft)}
tr>:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}.w{overflow-wrap:anywhere;min-width:9rem;max-width:44rem}
td.tree{white-space:pre-wrap}.branch{color:var(--weak);font-family:ui-monospace,Consolas,monospace;white-space:pre}
.lane{width:clamp(10rem,26vw,30rem)}.lane svg{display:block;width:100%;height:1.1rem}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,50rem),1fr));gap:1rem 3rem}.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:.25rem 2rem}
figure{margin:.5rem 0}figcaption{font-weight:600;overflow-wrap:anywhere;margin-bottom:.25rem}
figure svg{display:block;width:100%;height:auto;max-width:44rem}.strip svg{height:5.5rem;max-width:none;width:100%}
.matrix svg{max-width:36rem}
.ends{display:flex;justify-content:space-between;gap:1rem;color:var(--weak);font-size:.85rem}
svg text{font:11px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--weak)}
.bar{fill:var(--bar)}.badbar{fill:var(--bad)}.onpath{fill:var(--bar)}.offpath{fill:var(--h2)}.axis{stroke:var(--line)}.mark{stroke:var(--mark);stroke-dasharray:3 2}
text.marked{fill:var(--mark)}.ground{fill:var(--soft)}
.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.h5{fill:var(--h5)}.h6{fill:var(--h6)}
@media (max-width:44rem){.x{display:none}th,td{padding-right:.6rem}body{font-size:14px}.w{min-width:8rem}}
`;

/** Bytes of a page, whatever the trace has. */
const MAX_PAGE_BYTES = 2_000_000;
/** Of these, for what precedes and follows the sections. */
const FRAME_BYTES = 20_000;

/** Groups of which the page has pictures. */
export const PICTURED_GROUPS = 12;

function* sections({ report, pictures }: IllustratedReport): Generator<Html, void> {
  yield stripSection(report);
  yield tableSection(lossTable(report));
  yield tableSection(findingTable(report));
  yield groupSection(report);
  yield tableSection(groupWaitTable(report));
  yield tableSection(errorTable(report.errors));
  yield tableSection(poolTable(report.pools));
  for (const run of report.mpi) yield mpiSection(run);
  yield pictureSection(report, pictures);
  yield* traceSections(report);
  yield interruptionSection(report.interruptions);
  yield tableSection(openTable(report));
  yield tableSection(threadTable(report.threads));
  if (report.profile.length > 0) yield tableSection(profileTable(report.profile));
  if (report.memory.length > 0) yield tableSection(memoryTable(report.memory));
  yield costSection(report);
  yield tableSection(sourceTable(report));
}

/** As many of the sections as the page has room for. */
function fitting(all: Iterable<Html>): Html[] {
  const kept: Html[] = [];
  let bytes = FRAME_BYTES;
  let isCut = false;
  for (const section of all) {
    const own = Buffer.byteLength(section.text);
    if (bytes + own > MAX_PAGE_BYTES) {
      isCut = true;
      continue;
    }
    bytes += own;
    kept.push(section);
  }
  if (isCut)
    kept.push(
      markup`<p class="bad">A part of the report is left out: the page would be too large.</p>`,
    );
  return kept;
}

/**
 * A page with the figures and pictures of a report. It needs nothing from anywhere: its policy forbids
 * scripts and every request.
 */
export function reportPage(illustrated: IllustratedReport): string {
  const { report } = illustrated;
  const hash = createHash('sha256').update(PAGE_STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const incomplete = incompleteText(report);
  const percentiles = report.exact ? 'exact' : 'within 1 %';
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${new Html(policy)}" />
        <meta name="referrer" content="no-referrer" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Tracewright report</title>
        <style>${new Html(PAGE_STYLE)}</style>
      </head>
      <body>
        <main>
          <h1>Tracewright report</h1>
          <p>${summaryText(report)}</p>
          <p class="weak">
            ${timeText(report.from)} to ${timeText(report.to)}. Percentiles are ${percentiles}.
          </p>
          ${incomplete === undefined ? '' : markup`<p class="bad">${incomplete}.</p>`}
          ${hintTexts(report).map((hint) => markup`<p>${hint.map((sentence) => markup`${sentence} `)}</p>`)}
          ${fitting(sections(illustrated))}
        </main>
      </body>
    </html> `.text;
}
