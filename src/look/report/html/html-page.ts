import { createHash } from 'node:crypto';
import { incompleteText, summaryText } from '../report-texts.js';
import { hintTexts } from '../hint-texts.js';
import { timeText } from '../units.js';
import type { IllustratedReport } from '../report.js';
import {
  errorSection,
  groupSection,
  groupWaitSection,
  interruptionSection,
  lossSection,
  mpiSection,
  openSection,
  pictureSection,
  poolSection,
  sourceSection,
  stripSection,
  costSection,
  threadSection,
  traceSections,
} from './html-sections.js';
import { Html, markup } from './html-text.js';
import { PAGE_STYLE } from './page-style.js';

/** Bytes of a page, whatever the trace has. */
export const MAX_PAGE_BYTES = 2_000_000;
/** Of these, for what precedes and follows the sections. */
const FRAME_BYTES = 20_000;

/** Groups of which the page has pictures. */
export const PICTURED_GROUPS = 12;

function* sections({ report, pictures }: IllustratedReport): Generator<Html, void> {
  yield stripSection(report);
  yield lossSection(report);
  yield groupSection(report);
  yield groupWaitSection(report);
  yield errorSection(report);
  yield poolSection(report);
  for (const run of report.mpi) yield mpiSection(run);
  yield pictureSection(report, pictures);
  yield* traceSections(report);
  yield interruptionSection(report.interruptions);
  yield openSection(report);
  yield threadSection(report);
  yield costSection(report);
  yield sourceSection(report);
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
