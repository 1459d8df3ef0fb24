import { LOOP_BUSY_CURVE } from '../../../spans/read/loop-curves.js';
import { busyTimes } from './busy-times.js';
import type { InterruptionTally } from './interruptions.js';
import type { Track } from '../../index/look-index.js';
import type { RecordedTimes } from '../recording/recorded-times.js';
import type { ThreadFigures } from '../shape/thread-shape.js';
import type { RowSelection } from '../measures/selection.js';
import { Processes, threadOfProcess } from '../recording/processes.js';
import type { Steps } from '../../index/turns.js';

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
    if (counter.name !== LOOP_BUSY_CURVE) continue;
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

/** Tracks that are shown: threads, and the states of threads of processes that have recorded no spans. */
function shownTracks({ index }: RowSelection): Set<number> {
  const { ofTracks } = new Processes(index);
  const isThread = ({ kind }: Track): boolean => kind === 'thread';
  const withSpans = new Set(index.tracks.filter(isThread).map(({ number }) => ofTracks[number]!));
  const shown = index.tracks.filter(
    ({ kind, number }) => kind !== 'states' || !withSpans.has(ofTracks[number]!),
  );
  return new Set(shown.map(({ number }) => number));
}

/** How busy the threads were within the window, whatever other condition there is. */
export function* threadFigures(
  selection: RowSelection,
  interruptions: InterruptionTally,
  times: RecordedTimes,
): Steps<ThreadFigures[]> {
  const { index, window } = selection;
  const { tracks } = index;
  const begins = Float64Array.from(tracks, ({ source }) => times.ofSource(source).begin);
  const { spans, busy } = yield* busyTimes(selection, begins);
  const means = utilisations(selection);
  const shown = shownTracks(selection);
  const sources = new Map(index.sources.map((source) => [source.number, source]));
  return tracks.flatMap((track): ThreadFigures[] => {
    const { number, kind } = track;
    if (kind === 'mark' || !shown.has(number)) return [];
    const mean = means.get(threadOf(track.source, track.thread));
    // A thread without a span in the window has a row if its event loop was measured there.
    if (spans[number] === 0 && !mean?.time) return [];
    const source = sources.get(track.source)!;
    const { stall, collection } = interruptions.overlap(number, window.from, window.to);
    return [
      {
        path: source.path,
        ...threadOfProcess(source, track.name),
        kind,
        spans: spans[number]!,
        busy: busy[number]!,
        share: busy[number]! / times.within(track.source, window),
        utilisation: mean?.time ? mean.sum / mean.time : null,
        stalls: stall,
        collections: collection,
      },
    ];
  });
}
