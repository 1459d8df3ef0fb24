import { unusualStateText } from '../../look/report/print/report-texts.js';
import type {
  CounterAnswer,
  ProcessAnswer,
  RecordingAnswer,
  SourceAnswer,
  TrackAnswer,
} from '../../look/wire/answers.js';

import type { ShownProcesses } from './shown-processes.js';

/** One horizontal piece of the time line. `y` counts from the top of all lines. */
export type Line = HeadLine | TrackLine | SampleLine | CurveLine;

export interface HeadLine {
  kind: 'head';
  y: number;
  height: number;
  text: string;
  process: number;
}

export interface TrackLine {
  kind: 'track';
  y: number;
  height: number;
  text: string;
  track: TrackAnswer;
  /** Lanes that are drawn. */
  lanes: number;
  /** Lanes that the last one of them is for, if it is for several. */
  folded: number;
  /** Whether all lanes are drawn because someone wanted it. */
  isOpen: boolean;
  laneHeight: number;
  /** Pixels above the lanes for the name; 0: it lies in the column on the left. */
  nameHeight: number;
}

/** What a thread ran: its lanes are calls, each below the one above it. */
export interface SampleLine extends Omit<TrackLine, 'kind'> {
  kind: 'samples';
}

export interface CurveLine {
  kind: 'curve';
  y: number;
  height: number;
  text: string;
  /** Pixels above the curve for its name, as of a track. */
  nameHeight: number;
  counter: number;
  unit: string;
  max: number;
  isMean: boolean;
  /** Where the last value ends; null: with the time line. */
  end: number | null;
  /** Value of its full height: the most of all curves of its kind, so that processes can be compared. */
  scale: number;
}

export const HEAD_HEIGHT = 20;
export const LANE_HEIGHT = 12;
const STATES_HEIGHT = 10;
const CURVE_HEIGHT = 36;
const NARROW_CURVE_HEIGHT = 26;
/** Of the one curve of a folded process. */
export const LOAD_HEIGHT = 20;
/** A line that hardly ever moves: other views say it. */
const HEAP_LIMIT = 'heap limit';
const UTILISATION = 'event loop utilisation';
const NAME_HEIGHT = 14;
const GAP = 3;
/** The tracks of a thread, from top to bottom. */
const KINDS: readonly TrackAnswer['kind'][] = ['thread', 'rank', 'kernel', 'states', 'mark'];

/** Below this width in pixels the names of tracks lie above their lanes. */
const NARROW = 620;

/** Width of the column with the names of tracks, in pixels. */
export function gutterOf(width: number): number {
  return width < NARROW ? 0 : Math.min(200, Math.round(width * 0.2));
}

/**
 * The lines of a recording, from top to bottom: for each process its tracks, then its curves. One that is folded has one
 * curve of its load.
 *
 * @param width of the time line, in pixels.
 * @param fold lanes of a track before those that are folded into one, unless it is `open`.
 * @param depths of the samples of tracks, as far as they are known.
 */
export function linesOf(
  recording: RecordingAnswer,
  { folded: closed, pinned, samples, hidden, curves }: ShownProcesses,
  width: number,
  fold: number,
  open: ReadonlySet<number>,
  depths: ReadonlyMap<number, number> = new Map(),
): Line[] {
  const nameHeight = gutterOf(width) === 0 ? NAME_HEIGHT : 0;
  const curveHeight = nameHeight === 0 ? CURVE_HEIGHT : nameHeight + NARROW_CURVE_HEIGHT;
  const scales = scalesOf(recording);
  const ownTracks = byProcess(recording.tracks);
  const ownCounters = byProcess(recording.counters);
  const lines: Line[] = [];
  let y = 0;
  const add = (line: Line): void => {
    lines.push(line);
    y += line.height;
  };
  for (const process of ordered(recording, pinned)) {
    if (hidden.has(process.number)) continue;
    const tracks = shownTracks(ownTracks.get(process.number) ?? []);
    const counters = (ownCounters.get(process.number) ?? [])
      .filter(({ name }) => withoutThread(name) !== HEAP_LIMIT)
      .sort((a, b) => a.thread - b.thread);
    if (tracks.length === 0 && counters.length === 0) continue;
    const title = titleOf(process, recording.sources);
    const text = pinned.has(process.number) ? `★ ${title}` : title;
    add({ kind: 'head', y, height: HEAD_HEIGHT, text, process: process.number });
    const addCurve = (counter: CounterAnswer, height: number): void => {
      const { number, name, unit, max, isMean, end, source, thread } = counter;
      const isOnly =
        thread < 0 || counters.every((other) => other.thread === thread || other.thread < 0);
      const own = withoutThread(name);
      const ofThread = tracks.find((each) => each.source === source && each.thread === thread);
      const curveText = isOnly ? own : `${own}, ${ofThread?.name ?? `thread ${thread}`}`;
      const size = { y, height, nameHeight: height === LOAD_HEIGHT ? 0 : nameHeight };
      const scale = scales.get(kindOf(name, unit)) ?? max;
      const fields = { text: curveText, counter: number, unit, max, isMean, end, scale };
      add({ kind: 'curve', ...size, ...fields });
    };
    if (closed.has(process.number)) {
      const load = loadOf(counters);
      if (load !== undefined) addCurve(load, LOAD_HEIGHT);
      continue;
    }
    for (const track of tracks) {
      const laneHeight = track.kind === 'states' ? STATES_HEIGHT : LANE_HEIGHT;
      const all = Math.max(1, track.lanes);
      const folds = all > fold + 1;
      const isOpen = folds && open.has(track.number);
      const lanes = folds && !isOpen ? fold + 1 : all;
      const folded = folds && !isOpen ? all - fold : 0;
      const height = nameHeight + lanes * laneHeight + GAP;
      const size = { y, height, laneHeight, nameHeight, lanes, folded, isOpen };
      add({ kind: 'track', ...size, text: textOf(track), track });
      const { number, source, thread, kind } = track;
      const isSampled = recording.sources[source]?.profiled.includes(thread) === true;
      if (!samples.has(process.number) || kind !== 'thread' || !isSampled) continue;
      const depth = depths.get(number) ?? 1;
      const text = `${textOf(track)}, CPU samples`;
      const own = { lanes: depth, height: nameHeight + depth * laneHeight + GAP };
      add({ ...size, ...own, kind: 'samples', y, folded: 0, isOpen: false, text, track });
    }
    if (!curves && tracks.length > 0) continue;
    for (const counter of counters) addCurve(counter, curveHeight);
  }
  return lines;
}

/** The curve that says the most of how busy a process is. */
function loadOf(counters: readonly CounterAnswer[]): CounterAnswer | undefined {
  const named = (text: string): CounterAnswer | undefined =>
    counters.find(({ name }) => withoutThread(name) === text);
  return named(UTILISATION) ?? named('requests in flight') ?? counters[0];
}

/** Fewer lanes of a track are never folded. */
const LEAST_LANES = 8;
/** The limit changes in steps, so that a live recording seldom moves its lines. */
const LANE_STEP = 4;
/** No track has more. */
export const EVERY_LANE = 32_768;

/**
 * How many lanes of a track are drawn before the others are folded, so that all lines have room in a height.
 *
 * @param lines without a fold.
 */
export function foldOf(lines: readonly Line[], height: number): number {
  const tracks = lines.filter((line) => line.kind === 'track');
  const room = height - heightOf(lines);
  const most = tracks.reduce((max, { lanes }) => Math.max(max, lanes), 0);
  const saved = (fold: number): number =>
    tracks.reduce(
      (sum, { lanes, laneHeight }) => sum + Math.max(0, lanes - fold - 1) * laneHeight,
      0,
    );
  if (room >= 0) return EVERY_LANE;
  let fold = Math.max(LEAST_LANES, Math.floor(most / LANE_STEP) * LANE_STEP);
  while (fold > LEAST_LANES && room + saved(fold) < 0) fold -= LANE_STEP;
  return fold;
}

/** The kind of a curve, which all processes and threads share. */
function kindOf(name: string, unit: string): string {
  return `${withoutThread(name)} ${unit}`;
}

/** By kind of curve: the largest value of all processes. */
function scalesOf({ counters }: RecordingAnswer): Map<string, number> {
  const scales = new Map<string, number>();
  for (const { name, unit, max } of counters) {
    const kind = kindOf(name, unit);
    scales.set(kind, Math.max(max, scales.get(kind) ?? 0));
  }
  return scales;
}

/** Spans of services explain more than states of their threads. */
function ordered(
  { processes, sources }: RecordingAnswer,
  pinned: ReadonlySet<number>,
): ProcessAnswer[] {
  const orderOf = (process: ProcessAnswer): number =>
    Math.min(...process.sources.map((number) => sources[number]!.order));
  return processes.toSorted(
    (a, b) =>
      Number(pinned.has(b.number)) - Number(pinned.has(a.number)) ||
      Number(a.service === undefined) - Number(b.service === undefined) ||
      orderOf(a) - orderOf(b),
  );
}

/** The tracks of a process by thread. Its spans say more than states of its threads. */
function shownTracks(own: readonly TrackAnswer[]): TrackAnswer[] {
  const hasSpans = own.some(({ kind }) => kind === 'thread');
  const shown = own.filter(({ kind }) => kind !== 'states' || !hasSpans);
  const order = (a: TrackAnswer, b: TrackAnswer): number =>
    a.order - b.order ||
    a.source - b.source ||
    a.thread - b.thread ||
    KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
    a.number - b.number;
  return shown.sort(order);
}

function byProcess<T extends { process: number }>(all: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const each of all) {
    const group = groups.get(each.process);
    if (group === undefined) groups.set(each.process, [each]);
    else group.push(each);
  }
  return groups;
}

/** All lines together. */
export function heightOf(lines: readonly Line[]): number {
  const last = lines.at(-1);
  return last === undefined ? 0 : last.y + last.height;
}

/** A process, or a trace of no process that is known, in a few words. */
function titleOf(
  { service, pid, host, sources }: ProcessAnswer,
  all: readonly SourceAnswer[],
): string {
  const own = sources.map((number) => all[number]!);
  const { path, format } = own[0]!;
  const words = [
    service ?? nameOfPath(path, format),
    ...new Set(own.map(({ content }) => content)),
    pid === undefined ? '' : `process ${pid}`,
    host === undefined ? '' : `on ${host}`,
    ...new Set(own.map(({ state }) => unusualStateText(state))),
  ];
  return words.filter((word) => word !== '').join(' · ');
}

/** The last part of a path that says more than its format. */
function nameOfPath(path: string, format: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  return parts.findLast((part) => part !== format.toLowerCase()) ?? path;
}

/** Where the line is among those of its thread, or the only thread, its number says nothing. */
function withoutThread(name: string): string {
  return name.replace(/ \(thread \d+\)$/, '');
}

/** The thread that a track is of. */
export function threadText(track: TrackAnswer): string {
  const { name, thread, kind } = track;
  return kind === 'mark' ? `${thread}, ${withoutThread(name)}` : textOf(track);
}

function textOf({ kind, name, thread }: TrackAnswer): string {
  if (kind === 'states') return name === '' ? `states of thread ${thread}` : name;
  return name === '' ? `${kind} ${thread}` : name;
}
