import type { RecordingAnswer, TrackAnswer } from '../../wire/answers.js';
import { threadOfTrack } from '../../report/thread-names.js';
import type { LookIndex, Source, Track } from '../../index/look-index.js';
import type { Recording } from '../recording.js';
import type { Route } from '../route.js';
import { sourceOrder } from '../source-order.js';

/** What there is to look at: sources, tracks, curves. */
export const recordingRoute: Route = {
  path: '/data/recording',
  method: 'GET',
  answer: ({ recording }) => ({ json: describe(recording) }),
};

function describe(recording: Recording): RecordingAnswer {
  const { index, generation, revision, live, paths, frequentNames, problems } = recording;
  const order = sourceOrder(index.sources, paths);
  return {
    generation,
    revision,
    live,
    rows: index.rows,
    epoch: String(index.epoch),
    length: index.length,
    sources: index.sources.map((source) =>
      describeSource(source, order.get(source)!, timesOf(index, source)),
    ),
    tracks: index.tracks.map((track) => describeTrack(track, index.sources[track.source]!)),
    counters: index.counters.map(({ source, thread, name, unit, values }, number) => ({
      number,
      source,
      thread,
      name,
      unit,
      max: values.reduce((max, value) => Math.max(max, value), 0),
    })),
    messages: index.messages.length,
    frequentNames,
    problems,
  };
}

function describeTrack(track: Track, { content }: Source): TrackAnswer {
  const { number, source, kind, name, thread, lanes } = track;
  const about = content === 'states of threads' ? threadOfTrack(track) : thread;
  return { number, source, kind, name, thread, about, lanes };
}

function timesOf({ parts }: LookIndex, source: Source): { begin: number; end: number } {
  const own = parts.filter((part) => part.source.number === source.number && part.count > 0);
  if (own.length === 0) return { begin: 0, end: 0 };
  return {
    begin: own.reduce((least, part) => Math.min(least, part.firstStart + part.offset), Infinity),
    end: own.reduce((most, part) => Math.max(most, part.lastEnd + part.offset), -Infinity),
  };
}

function describeSource(
  source: Source,
  order: number,
  times: { begin: number; end: number },
): RecordingAnswer['sources'][number] {
  const {
    number,
    path,
    format,
    content,
    service,
    host,
    pid,
    state,
    clockOffset,
    clockError,
    losses,
  } = source;
  return {
    number,
    order,
    ...times,
    path,
    format,
    content,
    ...(service === undefined ? {} : { service }),
    ...(host === undefined ? {} : { host }),
    ...(pid === undefined ? {} : { pid }),
    state,
    clockOffset: String(clockOffset),
    ...(clockError === undefined ? {} : { clockError }),
    losses: losses.map(({ count, reason }) => ({
      ...(count === undefined ? {} : { count }),
      reason,
    })),
  };
}
