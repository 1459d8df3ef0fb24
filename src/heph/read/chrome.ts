import { ownOptions } from '../../core/options/argument.js';
import { microseconds } from '../../core/chrome-event.js';
import type { ChromeEvent } from '../../core/chrome-event.js';
import type { OnFault } from '../../core/fault.js';
import type { Progress } from '../../core/finding.js';
import { timeZeroLabel } from '../../core/wall-clock.js';
import { jsonValue } from '../../core/json.js';
import { END_OFFSET, START_OFFSET, STREAM_OFFSET, SUBSTREAM_OFFSET } from '../layout.js';
import type { EventPacket } from '../packet.js';
import { Nesting } from './nesting.js';
import { PacketCursor } from './packet-cursor.js';
import { surveyTracks } from './track-survey.js';
import type { TrackSurvey } from './track-survey.js';

/** The process under which a trace is shown that does not name its own. */
const PID = 1;
const CATEGORY = 'heph';

/** What a layer above knows of a trace's events. */
export interface Interpretation {
  /** Notes an event of the first pass; false: it is not drawn, in the second one neither. */
  note(cursor: PacketCursor): boolean;
  /** An event of the second pass, in its own words; undefined: it is a plain one. */
  read(cursor: PacketCursor): InterpretedEvent | undefined;
  /** The name under which a plain event is drawn. */
  nameOf(event: EventPacket): string;
  /** What a plain event counts from its start to its end, if it is drawn as curves instead. */
  countersOf(event: EventPacket): readonly CounterValue[] | undefined;
  /** Of the process that has written the trace, once the first pass is over. */
  process(): { pid?: number | undefined; name?: string | undefined };
}

/** A value of a curve of the thread. */
export interface CounterValue {
  name: string;
  value: number;
}

/** How an event is drawn that is more than a plain one. */
export interface InterpretedEvent {
  name: string;
  category: string;
  attributes: Iterable<readonly [name: string, value: unknown]>;
  /** Nanoseconds since the epoch, if they are not the event's own. */
  start?: bigint;
  end?: bigint;
}

/** What is drawn of an event. */
interface DrawnEvent extends InterpretedEvent {
  stream: number;
  substream: bigint;
  start: bigint;
  end: bigint;
  counters?: readonly CounterValue[] | undefined;
}

const PLAIN: Interpretation = {
  note: () => true,
  read: () => undefined,
  nameOf: ({ description }) => description,
  countersOf: () => undefined,
  process: () => ({}),
};

/** Options of a conversion. */
export interface ChromeOptions {
  /** Name of the process under which the trace is shown: `Heph <path>` unless set. */
  processName?: string;
  /** Called with bytes done and in all; the file is gone through twice and counts twice. */
  onProgress?: Progress;
}

/**
 * Turns a Heph trace into events for chrome://tracing and Perfetto. Times are microseconds since
 * the trace's epoch, which is given as a label of the process.
 *
 * The trace is one process and each stream a thread. Substream 0 is drawn on that thread. Other
 * substreams are drawn on further threads ("lanes") of the stream: a lane is taken by one
 * substream from its first start to its last end and then by the next, so that there are as many
 * lanes as substreams at the same time, and what two substreams did at once never looks like one
 * having caused the other. An event that overlaps another one of its track in part, and what finds
 * no lane (there are at most 1000 in a trace), is drawn as an asynchronous event of its own.
 *
 * What an event counts becomes curves, if the interpretation knows it.
 *
 * Attributes become `args`; integers beyond 2^53 - 1 are strings there, as are NaN and infinities.
 *
 * @throws TraceFormatError at the first packet that is not as the format says; the events before
 *   it have been yielded.
 */
export function chromeEvents(
  path: string,
  options: ChromeOptions = {},
): Generator<ChromeEvent, void> {
  options = ownOptions<ChromeOptions>(options, { processName: true, onProgress: true });
  return interpretedEvents(path, options, PLAIN);
}

/**
 * As `chromeEvents`, with what a layer above knows of the events.
 *
 * @param options.onFault takes packets that are refused; the others are drawn.
 */
export function* interpretedEvents(
  path: string,
  options: ChromeOptions & { onFault?: OnFault | undefined },
  interpretation: Interpretation,
): Generator<ChromeEvent, void> {
  const { onProgress, onFault } = options;
  const survey = surveyTracks(path, interpretation, (done, total) => {
    onProgress?.(done, 2 * total);
  });
  const { pid = PID, name = `Heph ${path}` } = interpretation.process();
  yield* metadataEvents(survey, pid, options.processName ?? name);
  const cursor = new PacketCursor(path, {
    onFault,
    ...(onProgress && {
      onProgress: (done: number, total: number) => {
        onProgress(total + done, 2 * total);
      },
    }),
  });
  const drawing = new Drawing(survey, pid);
  try {
    while (cursor.next()) {
      let event: DrawnEvent | undefined;
      try {
        event = drawnEvent(cursor, interpretation);
      } catch (error) {
        cursor.refuse(error);
      }
      if (event === undefined) continue;
      if (event.counters === undefined) yield* drawing.event(event);
      else yield* drawing.curves(event, event.counters);
    }
  } finally {
    cursor.close();
  }
}

function drawnEvent(cursor: PacketCursor, interpretation: Interpretation): DrawnEvent | undefined {
  const interpreted = cursor.isEvent ? interpretation.read(cursor) : undefined;
  if (interpreted !== undefined) {
    return {
      stream: cursor.u32(STREAM_OFFSET),
      substream: cursor.u64(SUBSTREAM_OFFSET),
      start: cursor.u64(START_OFFSET),
      end: cursor.u64(END_OFFSET),
      ...interpreted,
    };
  }
  const packet = cursor.packet();
  if (packet.kind !== 'event' || !interpretation.note(cursor)) return undefined;
  return {
    name: interpretation.nameOf(packet),
    category: CATEGORY,
    attributes: packet.attributes.map(({ name, value }) => [name, value] as const),
    stream: packet.stream,
    substream: packet.substream,
    start: packet.start,
    end: packet.end,
    counters: interpretation.countersOf(packet),
  };
}

function* metadataEvents(
  { epoch, tracks }: TrackSurvey,
  pid: number,
  processName: string,
): Generator<ChromeEvent, void> {
  const metadata = (name: string, tid: number, args: Record<string, unknown>): ChromeEvent => ({
    name,
    ph: 'M',
    ts: 0,
    pid,
    tid,
    args,
  });
  yield metadata('process_name', 0, { name: processName });
  const labels =
    epoch === undefined ? 'time 0 is not known: the trace sets no epoch' : timeZeroLabel(epoch);
  yield metadata('process_labels', 0, { labels });
  for (const { tid, name } of tracks) {
    yield metadata('thread_name', tid, { name });
    yield metadata('thread_sort_index', tid, { sort_index: tid });
  }
}

class Drawing {
  readonly #survey: TrackSurvey;
  readonly #pid: number;
  readonly #threadNames: ReadonlyMap<number, string>;
  readonly #nestings = new Map<number, Nesting>();
  #asynchronous = 0;

  constructor(survey: TrackSurvey, pid: number) {
    this.#survey = survey;
    this.#pid = pid;
    this.#threadNames = new Map(survey.tracks.map(({ tid, name }) => [tid, name]));
  }

  /** Curves are of a process: their names say of which thread. They are 0 where nothing is counted. */
  *curves(
    { stream, start, end }: DrawnEvent,
    counters: readonly CounterValue[],
  ): Generator<ChromeEvent, void> {
    const pid = this.#pid;
    const tid = this.#survey.tidOf(stream, 0n) ?? this.#survey.otherStreamsTid;
    const thread = this.#threadNames.get(tid) ?? `stream ${stream}`;
    for (const counter of counters) {
      const name = `${counter.name} (${thread})`;
      const { value } = counter;
      yield { name, ph: 'C', ts: microseconds(start), pid, tid, args: { value } };
      yield { name, ph: 'C', ts: microseconds(end), pid, tid, args: { value: 0 } };
    }
  }

  *event(event: DrawnEvent): Generator<ChromeEvent, void> {
    const pid = this.#pid;
    const { stream, substream, name, category: cat } = event;
    // Viewers drop what is before 0: its arguments say when it was.
    const start = event.start < 0n ? 0n : event.start;
    const end = event.end < start ? start : event.end;
    const ts = microseconds(start);
    const lane = this.#survey.tidOf(stream, substream);
    if (lane !== undefined && this.#nesting(lane).add(Number(start), Number(end))) {
      const dur = microseconds(end - start);
      const args = argsOf(event, false);
      yield args
        ? { name, cat, ph: 'X', ts, dur, pid, tid: lane, args }
        : { name, cat, ph: 'X', ts, dur, pid, tid: lane };
      return;
    }
    const tid = this.#survey.tidOf(stream, 0n) ?? this.#survey.otherStreamsTid;
    const id = `heph.${++this.#asynchronous}`;
    const args = argsOf(event, true) ?? {};
    yield { name, cat, ph: 'b', ts, pid, tid, id, args };
    yield { name, cat, ph: 'e', ts: microseconds(end), pid, tid, id };
  }

  #nesting(tid: number): Nesting {
    let nesting = this.#nestings.get(tid);
    if (nesting === undefined) {
      nesting = new Nesting();
      this.#nestings.set(tid, nesting);
    }
    return nesting;
  }
}

/** The attributes, and what the track does not say of the event itself. */
function argsOf(event: DrawnEvent, asynchronous: boolean): Record<string, unknown> | undefined {
  const { attributes, category, stream, substream, start, end } = event;
  const args = new Arguments();
  for (const [name, value] of attributes) args.add(name, jsonValue(value));
  if (asynchronous) args.add('stream', stream);
  // An interpreted event says what its substream means.
  if (substream !== 0n && category === CATEGORY) args.add('substream', jsonValue(substream));
  if (start < 0n) args.add('starts before time 0 by (ns)', jsonValue(-start));
  if (end < 0n) args.add('ends before time 0 by (ns)', jsonValue(-end));
  if (end < start) args.add('ends before its start by (ns)', jsonValue(start - end));
  return args.isEmpty ? undefined : args.values;
}

/** Arguments of one event by name. A repeated name gets a number: `name (2)`. */
class Arguments {
  readonly values: Record<string, unknown> = {};
  isEmpty = true;
  /** By repeated name: the number that its next repetition tries first. */
  #numbers: Map<string, number> | undefined;

  add(name: string, value: unknown): void {
    this.isEmpty = false;
    const unused = Object.hasOwn(this.values, name) ? this.#numbered(name) : name;
    if (unused === '__proto__') {
      // An assignment would set the prototype.
      Object.defineProperty(this.values, unused, { value, enumerable: true });
    } else {
      this.values[unused] = value;
    }
  }

  #numbered(name: string): string {
    this.#numbers ??= new Map();
    for (let number = this.#numbers.get(name) ?? 2; ; number++) {
      const unused = `${name} (${number})`;
      if (Object.hasOwn(this.values, unused)) continue;
      this.#numbers.set(name, number + 1);
      return unused;
    }
  }
}
