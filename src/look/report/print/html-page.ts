import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { terminalText } from '../../../core/readable-text.js';
import type { Report } from '../shape/report-shape.js';

/** Groups that tables show: of the others only figures are needed, to count them. */
const SHOWN_GROUPS = 50;

/** The program and the style of the page, which are built from src/page/. */
interface ReportFiles {
  script: string;
  style: string;
}

/** @param directory `dist/page` of the package. */
export function readReportFiles(directory: string): ReportFiles {
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  return { script: read('report.js'), style: read('style.css') };
}

/**
 * A page that shows a report as the Overview of `tracewright view` does. It needs nothing from anywhere: its policy
 * forbids every request, and every script and style but its own.
 */
export function reportPage(report: Report, { script, style }: ReportFiles): string {
  const policy =
    `default-src 'none'; script-src 'sha256-${hashOf(script)}'; style-src 'sha256-${hashOf(style)}'; ` +
    "base-uri 'none'; form-action 'none'";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tracewright report</title>
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript.</noscript>
<script id="report" type="application/json">${jsonOf(report)}</script>
<script type="module">${script}</script>
</body>
</html>
`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** No tag can end within it, and no character acts on who looks at the page. */
function jsonOf({ groups, slowest, ...report }: Report): string {
  const shown: Report = {
    ...report,
    groups: groups.map((group, at) =>
      at < SHOWN_GROUPS ? group : { ...group, where: null, waitedFor: [] },
    ),
    slowest: slowest.map((trace) => ({ ...trace, rows: [] })),
  };
  const readable = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? terminalText(value) : value;
  return JSON.stringify(shown, readable).replaceAll('<', '\\u003c');
}
