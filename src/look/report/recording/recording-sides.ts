import { entryOf } from '../../../core/map-entries.js';
import type { TraceContent } from '../../../rows/row-flags.js';
import type { LookIndex } from '../../index/look-index.js';
import type { EarlierAndLater } from '../shape/report-shape.js';

/** The fields of a source that choose its side. */
interface SideSource {
  number: number;
  /** Its rank in the order in which sources are shown. */
  order: number;
  path: string;
  format: string;
  content: TraceContent;
  service?: string | undefined;
  /** Of its rows, in ns of the recording. */
  begin: number;
  end: number;
}

/** Recordings of one service in one directory, or one file: what a side of a comparison consists of. */
export interface Run {
  /** That of the directory, and the service if the directory has several runs. */
  name: string;
  /** The part in which their paths differ; the service, if that is no name. */
  directory: string;
  /** Up to the part of the path in which the runs differ. */
  path: string;
  sources: number[];
  /** Undefined: its traces do not say one. */
  service: string | undefined;
  /** When the first of them began, in ns since time 0. */
  begin: number;
}

/** Names of runs. */
export interface Sides {
  before: string[];
  after: string[];
}

const SEPARATOR = /[\\/]/;

/**
 * The runs of a recording, the first one first: sources by the part of their paths in which they differ, and by
 * service. States of threads are not compared where there are spans.
 */
export function runsOf(sources: readonly SideSource[]): Run[] {
  const spans = sources.filter(({ content }) => content !== 'states of threads');
  // Traces of services say when they began; others may say no time of their own.
  const ordered = (spans.length === 0 ? sources : spans).toSorted(
    (a, b) =>
      Number(a.service === undefined) - Number(b.service === undefined) || a.order - b.order,
  );
  const common = commonParts(ordered);
  const runs = new Map<string, Run>();
  for (const { number, path, service, begin } of ordered) {
    const parts = path.split(SEPARATOR);
    const at = namedPart(parts, common);
    const directory = at === undefined ? (service ?? parts.at(-1)!) : parts[at]!;
    const key = JSON.stringify([directory, service]);
    const own = parts.slice(0, (at ?? common) + 1).join('/');
    const run = runs.get(key) ?? {
      name: directory,
      directory,
      path: own,
      sources: [],
      service,
      begin,
    };
    runs.set(key, run);
    run.sources.push(number);
    run.begin = Math.min(run.begin, begin);
  }
  const all = [...runs.values()];
  return all.map((run) => {
    const { directory, service } = run;
    const isOnly = all.every((other) => other.directory !== directory || other.service === service);
    return { ...run, name: isOnly ? directory : `${directory} · ${service ?? 'no service'}` };
  });
}

/** Parts of paths that name no recording: `..`, the folder of a format, and of an absolute path what is before its root. */
const NAMELESS = ['', '.', '..', 'heph', 'ovni'];

/** The part of a path that names its recording: the first one that differs, or the last directory; undefined: none. */
function namedPart(parts: readonly string[], common: number): number | undefined {
  const differs = Math.min(common, parts.length - 1);
  if (!NAMELESS.includes(parts[differs]!)) return differs;
  const last = parts.slice(0, -1).findLastIndex((part) => !NAMELESS.includes(part));
  return last === -1 ? undefined : last;
}

/** How many parts, from the first on, all paths have in common. */
function commonParts(sources: readonly SideSource[]): number {
  const paths = sources.map(({ path }) => path.split(SEPARATOR));
  const [first = []] = paths;
  let common = 0;
  while (common < first.length && paths.every((path) => path[common] === first[common])) {
    common += 1;
  }
  return common;
}

/**
 * Guesses which recordings are before and after a change: of each service that was recorded twice the first and the
 * second. Processes in one directory that ran at the same time are one recording of it. Both are empty if there
 * is no such service.
 */
export function likelySides(sources: readonly SideSource[], runs: readonly Run[]): Sides {
  const sides: Sides = { before: [], after: [] };
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  const ofService = new Map<string, Run[][]>();
  for (const run of runs) {
    const own = run.sources.map((number) => byNumber.get(number)!);
    const key = run.service ?? `${own[0]!.format} without a service`;
    const times = ofService.get(key) ?? [];
    ofService.set(key, times);
    const last = times.at(-1);
    const others = (last ?? []).flatMap((each) => each.sources.map((at) => byNumber.get(at)!));
    if (last !== undefined && own.some((a) => others.some((b) => ranTogether(a, b))))
      last.push(run);
    else times.push([run]);
  }
  for (const [first, second] of ofService.values()) {
    if (first === undefined || second === undefined) continue;
    sides.before.push(...first.map(({ name }) => name));
    sides.after.push(...second.map(({ name }) => name));
  }
  return sides;
}

function ranTogether(a: SideSource, b: SideSource): boolean {
  const directoryOf = (path: string): string => path.split(SEPARATOR).slice(0, -1).join('/');
  return directoryOf(a.path) === directoryOf(b.path) && a.begin < b.end && b.begin < a.end;
}

/** The services of some runs, sorted. */
export function servicesOf(runs: readonly Run[], names: readonly string[]): string[] {
  const chosen = runs.filter(({ name }) => names.includes(name));
  return [...new Set(chosen.map(({ service }) => service ?? ''))]
    .filter((each) => each !== '')
    .sort();
}

/** Two recordings of all services: most likely before and after a change. */
export function isBeforeAndAfter(runs: readonly Run[], { before, after }: Sides): boolean {
  const every = servicesOf(
    runs,
    runs.map(({ name }) => name),
  ).join();
  return every !== '' && [before, after].every((names) => servicesOf(runs, names).join() === every);
}

/** When a recording was made, in ns since time 0. */
export interface Period {
  name: string;
  from: number;
  to: number;
}

/** The recordings of the same services, if each was over when the next one began; else none. */
export function periodsOf(sources: readonly SideSource[]): Period[] {
  const runs = runsOf(sources);
  if (!isBeforeAndAfter(runs, likelySides(sources, runs))) return [];
  const periods = new Map<string, Period>();
  for (const { path, directory: name, sources: numbers } of runs) {
    const period = entryOf(periods, path, () => ({ name, from: Infinity, to: -Infinity }));
    for (const { number, begin, end } of sources) {
      if (!numbers.includes(number)) continue;
      period.from = Math.min(period.from, begin);
      period.to = Math.max(period.to, end + 1);
    }
  }
  const sorted = [...periods.values()].sort((a, b) => a.from - b.from);
  return sorted.every(({ from }, at) => at === 0 || sorted[at - 1]!.to <= from) ? sorted : [];
}

/** The paths of two recordings of the same services, one after the other; null: these are none. */
export function earlierAndLater(
  { sources }: Pick<LookIndex, 'sources'>,
  times: { ofSource(number: number): Pick<SideSource, 'begin' | 'end'> },
): EarlierAndLater | null {
  const described = sources
    .map(({ number, path, format, content, service }): SideSource => {
      const { begin, end } = times.ofSource(number);
      return { number, order: 0, path, format, content, service, begin, end };
    })
    .filter(({ begin, end }) => begin <= end)
    .sort((a, b) => a.begin - b.begin)
    .map((source, order) => ({ ...source, order }));
  const runs = runsOf(described);
  const sides = likelySides(described, runs);
  if (!isBeforeAndAfter(runs, sides)) return null;
  const [before, after] = [sides.before, sides.after].map((names) => {
    const own = runs.filter(({ name }) => names.includes(name));
    const numbers = new Set(own.flatMap((run) => run.sources));
    return {
      paths: [...new Set(own.map(({ path }) => path))],
      sources: described.filter(({ number }) => numbers.has(number)),
    };
  });
  const end = Math.max(...before!.sources.map((source) => source.end));
  const begin = Math.min(...after!.sources.map((source) => source.begin));
  if (end > begin || before!.paths.some((path) => after!.paths.includes(path))) return null;
  return { services: servicesOf(runs, sides.before), before: before!.paths, after: after!.paths };
}
