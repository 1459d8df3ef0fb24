import type { RecordingAnswer } from '../../wire/answers.js';
import type { Source } from '../../index/look-index.js';
import type { Recording } from '../recording.js';
import type { Route } from '../route.js';

/** What there is to look at: sources, tracks, curves. */
export const recordingRoute: Route = {
  path: '/data/recording',
  method: 'GET',
  answer: ({ recording }) => ({ json: describe(recording) }),
};

function describe(recording: Recording): RecordingAnswer {
  const { index, generation, revision, live, problems } = recording;
  return {
    generation,
    revision,
    live,
    rows: index.rows,
    epoch: String(index.epoch),
    length: index.length,
    sources: index.sources.map(describeSource),
    tracks: index.tracks.map(({ number, source, kind, name, thread, lanes }) => ({
      number,
      source,
      kind,
      name,
      thread,
      lanes,
    })),
    counters: index.counters.map(({ source, thread, name, unit, values }, number) => ({
      number,
      source,
      thread,
      name,
      unit,
      max: values.reduce((max, value) => Math.max(max, value), 0),
    })),
    messages: index.messages.length,
    problems,
  };
}

function describeSource(source: Source): RecordingAnswer['sources'][number] {
  const { number, path, format, service, host, pid, state, clockOffset, losses } = source;
  return {
    number,
    path,
    format,
    ...(service === undefined ? {} : { service }),
    ...(host === undefined ? {} : { host }),
    ...(pid === undefined ? {} : { pid }),
    state,
    clockOffset: String(clockOffset),
    losses: losses.map(({ count, reason }) => ({
      ...(count === undefined ? {} : { count }),
      reason,
    })),
  };
}
