import { INSTANT_BIT } from '../index/look-index.js';
import type { IndexPart } from '../index/look-index.js';
import type { InterruptionTally } from './interruptions.js';
import { UTILISATION } from './recorded-times.js';
import type { RecordedTimes } from './recorded-times.js';
import type { ThreadFigures } from './report-shape.js';
import { IN_WINDOW } from './selection.js';
import type { RowSelection } from './selection.js';
import { isAboutThread, threadKeys } from './thread-names.js';
import type { Steps } from '../index/turns.js';

const RUNNING = 'running';
/** Weighted by time. */
interface Mean {
  sum: number;
  time: number;
}

function threadOf(source: number, thread: number): string {
  return `${source}/${thread}`;
}

/** The mean utilisation of each thread within the window, where it was recorded. */
function utilisations({ index, window: { from, to } }: RowSelection): Map<string, Mean> {
  const means = new Map<string, Mean>();
  for (const counter of index.counters) {
    if (counter.name !== UTILISATION) continue;
    // Points of other curves are made when they are asked for.
    const { source, thread, times, values } = counter;
    const key = threadOf(source, thread);
    const mean = means.get(key) ?? { sum: 0, time: 0 };
    means.set(key, mean);
    for (let at = 0; at + 1 < times.length; at++) {
      const length = Math.min(times[at + 1]!, to) - Math.max(times[at]!, from);
      if (length <= 0) continue;
      mean.sum += values[at]! * length;
      mean.time += length;
    }
  }
  return means;
}

/** Tracks that are shown: threads, and the states of those that have recorded nothing else. */
function shownTracks({ index }: RowSelection): Set<number> {
  const keys = threadKeys(index);
  const withSpans = new Set<string>();
  for (const { number, kind } of index.tracks) if (kind === 'thread') withSpans.add(keys[number]!);
  const shown = index.tracks.filter(
    (track) =>
      track.kind !== 'mark' &&
      !isAboutThread(track) &&
      (track.kind !== 'states' || !withSpans.has(keys[track.number]!)),
  );
  return new Set(shown.map(({ number }) => number));
}

/** By track. */
interface BusyTimes {
  /** Rows. */
  spans: Float64Array;
  /** Ns in which a row was open. */
  busy: Float64Array;
  /** Rows come by their start: up to here the time is counted. */
  counted: Float64Array;
}

function addBusy(
  part: IndexPart,
  selection: RowSelection,
  isStates: Uint8Array,
  { spans, busy, counted }: BusyTimes,
): void {
  const marks = selection.marksOf(part);
  if (marks.length === 0) return;
  const { track: trackOf, flags, name, names, start, duration, offset } = part;
  const { to: end } = selection.window;
  for (let at = 0; at < marks.length; at++) {
    if ((marks[at]! & IN_WINDOW) === 0) continue;
    const track = trackOf[at]!;
    spans[track]!++;
    if ((flags[at]! & INSTANT_BIT) !== 0) continue;
    if (isStates[track] === 1 && names.text(name[at]!) !== RUNNING) continue;
    const begin = start[at]! + offset;
    const until = begin + duration[at]!;
    const known = counted[track]!;
    // Most rows lie within one that began before them.
    if (until <= known) continue;
    const from = begin < known ? known : begin;
    const to = until < end ? until : end;
    if (to <= from) continue;
    busy[track]! += to - from;
    counted[track] = to;
  }
}

/** How busy the threads were within the window, whatever other condition there is. */
export function* threadFigures(
  selection: RowSelection,
  interruptions: InterruptionTally,
  times: RecordedTimes,
): Steps<ThreadFigures[]> {
  const { index, window } = selection;
  const { tracks, parts } = index;
  const counts: BusyTimes = {
    spans: new Float64Array(tracks.length),
    busy: new Float64Array(tracks.length),
    counted: new Float64Array(tracks.length).fill(window.from),
  };
  const { spans, busy } = counts;
  const isStates = Uint8Array.from(tracks, ({ kind }) => (kind === 'states' ? 1 : 0));
  for (const part of parts) {
    yield;
    addBusy(part, selection, isStates, counts);
  }
  const means = utilisations(selection);
  const shown = shownTracks(selection);
  const sources = new Map(index.sources.map((source) => [source.number, source]));
  return tracks.flatMap((track): ThreadFigures[] => {
    const { number, kind } = track;
    if (kind === 'mark' || !shown.has(number) || spans[number] === 0) return [];
    const source = sources.get(track.source)!;
    const mean = means.get(threadOf(track.source, track.thread));
    const { stall, collection } = interruptions.overlap(number, window.from, window.to);
    return [
      {
        path: source.path,
        service: source.service ?? null,
        pid: source.pid ?? null,
        thread: track.name,
        kind,
        spans: spans[number]!,
        busy: busy[number]!,
        share: busy[number]! / times.within(track.source, window),
        utilisation: mean === undefined || mean.time === 0 ? null : mean.sum / mean.time,
        stalls: stall,
        collections: collection,
      },
    ];
  });
}
