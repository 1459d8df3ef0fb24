import { listed } from '../../../core/readable-text.js';
import { countText, shareText } from '../measures/units.js';
import type { EarlierAndLater, Report, ServiceRuns } from '../shape/report-shape.js';
import { ESTIMATE_MARK } from './tables/report-table.js';

/** Paths of a side that are named. */
const MAX_PATHS = 3;

/** Hints about the recordings, to be read before the figures: the sentences of each. */
export function hintTexts(report: Report): string[][] {
  const { recordedTwice } = report;
  return [
    ...(recordedTwice === null || hasMoreRuns(report) ? [] : [recordedTwiceHint(recordedTwice)]),
    ...figureHints(report),
  ];
}

/** Which figures are not what they seem. */
export function figureHints(report: Report): string[][] {
  const { unknownAttributes, withoutContext, runs, recordedTwice } = report;
  const isMixed = runs.length > 0 && (recordedTwice === null || hasMoreRuns(report));
  return [
    ...(isMixed ? [runsHint(runs)] : []),
    ...unknownAttributes.map(({ name, near }) => [
      `No span that was looked at has the attribute ${name}: did you mean ${near}?`,
    ]),
    ...samplingHints(report),
    ...(report.notKept === 0 ? [] : [notKeptHint(report)]),
    ...(report.lostCounts.length === 0 ? [] : [lostCountsHint(report.lostCounts)]),
    ...(withoutContext.length === 0 ? [] : [contextHint(withoutContext)]),
  ];
}

function notKeptHint({ notKept, aboveLimit }: Report): string[] {
  return [
    `${countText(notKept)} requests were not kept, only counted.`,
    ...(aboveLimit === 0
      ? []
      : [`${countText(aboveLimit)} of them were slow or failed, and above the limit.`]),
    'Counts, errors, rates and percentiles of groups are of all requests.',
    `Latencies with ${ESTIMATE_MARK} come from histograms, and are right within 3 %.`,
    'All other figures, and the traces, are of what was kept.',
  ];
}

function lostCountsHint(services: readonly string[]): string[] {
  return [
    `${listed(services)} ${wereText(services)} killed, or ended with open requests.`,
    'Counts of requests that were not kept may be missing, of the last 10 s at most.',
  ];
}

function recordedTwiceHint({ services, before, after }: EarlierAndLater): string[] {
  return [
    `${listed(services)} ${wereText(services)} recorded twice, one time after the other.`,
    'The figures below are of both together.',
    `To compare them: tracewright report ${argumentsOf(after)} ${againstOf(before)}`,
  ];
}

/** Whether a service was recorded more than twice. */
function hasMoreRuns({ runs }: Report): boolean {
  return runs.some(({ paths }) => paths.length > 2);
}

function runsHint(runs: readonly ServiceRuns[]): string[] {
  const services = runs.map(({ service, paths }) => `${service} has ${paths.length} runs`);
  const ofSide = (at: number): string[] => [...new Set(runs.map(({ paths }) => paths.at(at)!))];
  const [last, before] = [ofSide(-1), ofSide(-2)];
  return [
    `${listed(services)} in these directories.`,
    'The figures are of all of them together.',
    `To see the last one alone: tracewright report ${argumentsOf(last)}`,
    `(to compare it with the one before, add ${againstOf(before)})`,
  ];
}

/** Which services record only a share of their traces, and what that means for the figures. */
function samplingHints({ sources }: Report): string[][] {
  const ratios = new Map<string, Set<number | null>>();
  for (const { service, path, sampled, format } of sources) {
    if (format === 'ovni') continue;
    const name = service ?? path;
    ratios.set(name, (ratios.get(name) ?? new Set()).add(sampled === null ? 1 : sampled.ratio));
  }
  const hints: string[][] = [];
  for (const [name, [first, ...others]] of ratios) {
    if (first === 1 && others.length === 0) continue;
    const isKnown = others.length === 0 && typeof first === 'number';
    hints.push(
      isKnown
        ? [
            `${name} is sampled: it records ${shareText(first)} of its traces.`,
            'Its counts, errors, totals and rates by group are estimates of all.',
            'All other figures are of what is recorded.',
          ]
        : [
            `${name} is sampled, and the share that is recorded is not known for all of its traces.`,
            'All figures are of what is recorded.',
          ],
    );
  }
  return hints;
}

function contextHint(services: readonly string[]): string[] {
  return [
    `${listed(services)} ${wereText(services)} recorded without context:`,
    'requests have no children, and nothing says what they waited for.',
    'To record it, start the service with TRACEWRIGHT_CONTEXT=on',
  ];
}

function againstOf(paths: readonly string[]): string {
  if (paths.length > MAX_PATHS) return '--against BEFORE';
  return paths.map((path) => `--against ${shellWord(path)}`).join(' ');
}

function argumentsOf(paths: readonly string[]): string {
  return paths.length > MAX_PATHS ? 'AFTER' : paths.map(shellWord).join(' ');
}

/** A text as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./@:+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function wereText(names: readonly string[]): string {
  return names.length === 1 ? 'was' : 'were';
}
