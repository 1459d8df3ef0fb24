import type { RecordingAnswer, TrackAnswer } from '../../wire/answers.js';
import { interruptionKinds } from '../../report/threads/interruptions.js';
import { Processes, timesOfSources } from '../../report/recording/processes.js';
import type { SourceTimes } from '../../report/recording/processes.js';
import { OvniThreads } from '../../report/names/thread-names.js';
import type { LookIndex, Source } from '../../index/look-index.js';
import { selectedCounts } from '../../report/groups/released-groups.js';
import type { Recording } from '../recording.js';
import type { Route } from '../route.js';
import { resolve, sep } from 'node:path';

/** The order in which sources are shown: as their paths were given, then by their beginning. */
function sourceOrder(sources: readonly Source[], paths: readonly string[]): Map<Source, number> {
  const given = paths.map((path) => resolve(path));
  const rankOf = ({ path }: Source): number => {
    const own = resolve(path);
    const rank = given.findIndex((each) => own === each || own.startsWith(each + sep));
    return rank === -1 ? given.length : rank;
  };
  const ranked = sources.map((source) => ({ source, rank: rankOf(source) }));
  ranked.sort(
    (a, b) =>
      a.rank - b.rank ||
      Number(a.source.epoch - b.source.epoch) ||
      a.source.number - b.source.number,
  );
  return new Map(ranked.map(({ source }, order) => [source, order]));
}

/** Answers with all sources, tracks and curves of the recording. */
export const recordingRoute: Route = {
  path: '/data/recording',
  method: 'GET',
  answer: ({ recording }) => ({ json: describe(recording) }),
};

function describe(recording: Recording): RecordingAnswer {
  const { index, generation, revision, live, paths, frequentNames, problems } = recording;
  const order = sourceOrder(index.sources, paths);
  const times = timesOfSources(index);
  const threads = new OvniThreads(index);
  const processes = new Processes(index, times, threads);
  return {
    generation,
    revision,
    live,
    rows: index.rows,
    epoch: String(index.epoch),
    length: index.length,
    sources: index.sources.map((source) => ({
      ...source,
      ...times[source.number]!,
      order: order.get(source)!,
      clockOffset: String(source.clockOffset),
    })),
    processes: processes.all,
    tracks: tracksOf(index, processes, threads),
    counters: index.counters.map((counter, number) => {
      const { source, thread, name, unit, times: points, values, areMeans } = counter;
      const process = processes.ofCounter(counter);
      const end = endOf(processes.all[process]!, index.sources, times);
      return {
        number,
        source,
        process,
        thread,
        name,
        unit,
        max: values.reduce((max, value) => Math.max(max, value), 0),
        isMean: areMeans === true,
        end: end === null ? null : Math.max(end, points.at(-1) ?? 0),
      };
    }),
    isSelected: selectedCounts(index, {}).next().done === false,
    messages: index.messages.length,
    frequentNames,
    interruptions: interruptionKinds(index),
    problems,
  };
}

/** When a process has ended; null: it runs. */
function endOf(
  process: Processes['all'][number],
  sources: readonly Source[],
  times: readonly SourceTimes[],
): number | null {
  if (process.sources.some((number) => sources[number]!.state === 'growing')) return null;
  return Math.max(...process.sources.map((number) => times[number]!.end));
}

function tracksOf(index: LookIndex, { ofTracks }: Processes, threads: OvniThreads): TrackAnswer[] {
  /** Numbers of threads by process and name, of traces with spans. */
  const orders = new Map<string, number>();
  for (const { number, kind, name, thread } of index.tracks) {
    if (kind === 'thread') orders.set(`${ofTracks[number]} ${name}`, thread);
  }
  return index.tracks.map((track) => {
    const process = ofTracks[track.number]!;
    const name = threads.of(track)?.name;
    return { ...track, process, order: orders.get(`${process} ${name}`) ?? track.thread };
  });
}
