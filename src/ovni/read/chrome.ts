import { UnusedNumbers } from '../../core/unused-numbers.js';
import { ownOptions } from '../../core/options/argument.js';
import { statSync } from 'node:fs';
import type { ChromeEvent } from '../../core/chrome-event.js';
import { TraceFormatError } from '../../core/errors.js';
import { untilFault } from '../../core/fault.js';
import type { OnFault } from '../../core/fault.js';
import type { Progress } from '../../core/finding.js';
import { jsonValue } from '../../core/json.js';
import type { JsonObject } from '../../core/json.js';
import { markTypesOf } from './mark-types.js';
import type { MarkTypes } from './mark-types.js';
import type { MarkType } from './metadata.js';
import { StreamReader, decodeArguments } from './reader.js';
import type { StreamEvent } from './reader.js';
import { transitionOf } from '../thread-state.js';
import { clockOffsetOf, readTraceDirectory } from './trace-directory.js';
import type { ThreadStream, TraceProcess } from './trace-directory.js';
import { codeOf } from '../layout.js';

const PROGRESS_EVENTS = 1 << 16;
/** Tracks of marks have thread ids above every real one of Linux. */
const FIRST_MARK_TID = 1 << 22;
const MAX_MARK_DEPTH = 512;

const FLUSH_BEGIN = codeOf('OF[');
const FLUSH_END = codeOf('OF]');
const MARK_PUSH = codeOf('OM[');
const MARK_POP = codeOf('OM]');
const MARK_SET = codeOf('OM=');

/** Options of a conversion. */
export interface ChromeOptions {
  /** Nanoseconds to add to every time, to align the trace with others. Default: 0. */
  shift?: number;
  onProgress?: Progress;
  /** Takes what cannot be read of the trace, while the rest is converted. Default: throw the first fault. */
  onFault?: OnFault | undefined;
}

/** A value of a mark that has begun and not ended. */
interface OpenMark {
  readonly value: bigint;
  readonly begin: number;
}

/** A mark type as one thread has it: a track of its own. */
interface MarkTrack {
  readonly type: number;
  readonly tid: number;
  readonly mark: MarkType | undefined;
  /** The values of a stack, the last one on top; of a single mark at most one. */
  readonly open: OpenMark[];
}

/** Gives thread ids to the tracks of marks, apart from those of all threads of the process. */
class TrackIds {
  readonly #taken: Set<number>;
  #next: number;

  constructor(process: TraceProcess) {
    this.#taken = new Set(process.threads.map(({ tid }) => tid));
    this.#next = FIRST_MARK_TID;
  }

  take(): number {
    while (this.#taken.has(this.#next)) this.#next += 1;
    this.#next += 1;
    return this.#next - 1;
  }
}

/**
 * Turns an ovni trace into events for chrome://tracing and Perfetto. Times are microseconds of the
 * trace's clock (CLOCK_MONOTONIC) with the offsets of `clock-offsets.txt`.
 *
 * Each process and each thread of the trace becomes one. States of a thread (running, paused, cooling,
 * warming) and the flushes inside them become slices. Its other events become instants with their
 * arguments. Each mark type that a thread uses becomes a track below the thread, with the type's
 * title: values of a stack are nested slices, values of a single mark follow one another. A slice has
 * the label of its value, or the value. Single marks that count something (`node.counters` among the
 * attributes of the stream) become counters. Slices that are open at the end of a stream end with its last
 * event. A mark that is popped out of order ends all slices above it.
 *
 * If a process id occurs in two looms, the second process gets another number; its name has the real
 * one. Streams are converted one after the other, so events are in the order of time within a track
 * only, which viewers accept.
 *
 * @throws TraceFormatError for a stream that is not as the format requires, unless there is `onFault`. The
 *   events before the fault have been yielded, and open slices have been ended.
 */
export function* chromeEvents(
  path: string,
  options: ChromeOptions = {},
): Generator<ChromeEvent, void> {
  options = ownOptions<ChromeOptions>(options, { shift: true, onProgress: true, onFault: true });
  const { onProgress, onFault, shift = 0 } = options;
  const trace = readTraceDirectory(path, onFault && { onFault });
  const marks = markTypesOf(trace);
  const pids = new UnusedNumbers();
  const total = trace.streams.reduce((sum, stream) => sum + sizeOf(stream.path), 0);
  let done = 0;
  for (const { name, processes } of trace.looms) {
    for (const process of processes) {
      const pid = pids.find(process.pid);
      pids.use(pid);
      const { appId, rank } = process.metadata ?? process.threads[0]?.metadata ?? {};
      const also = `${appId === undefined ? '' : ` app ${appId}`}${rank === undefined ? '' : ` rank ${rank}`}`;
      yield metadata('process_name', pid, 0, { name: `${name} proc ${process.pid}${also}` });
      const ids = new TrackIds(process);
      for (const stream of process.threads) {
        const drawing = new ThreadDrawing(
          stream,
          pid,
          Number(clockOffsetOf(trace, stream)) + shift,
          marks,
          ids,
        );
        const before = done;
        yield* untilFault(onFault, stream.path, () =>
          drawing.events((bytes) => {
            done = before + bytes;
            onProgress?.(done, total);
          }),
        );
      }
    }
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The attribute `node` of a thread, or a part of it; the register hook sets it. */
function objectIn(values: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** The name of a thread from the attribute `node.thread`, and its number. */
function nameOf({ tid, metadata: { attributes } }: ThreadStream): string {
  const name = objectIn(attributes, 'node')['thread'];
  return typeof name === 'string' ? `${name} (thread ${tid})` : `thread ${tid}`;
}

/**
 * What is subtracted from the values of a mark type that counts something, from the attribute
 * `node.counters`; undefined: the type does not count.
 */
function countedFrom({ metadata: { attributes } }: ThreadStream, type: number): number | undefined {
  const from = objectIn(objectIn(attributes, 'node'), 'counters')[String(type)];
  return Number.isSafeInteger(from) ? (from as number) : undefined;
}

function metadata(
  name: string,
  pid: number,
  tid: number,
  args: Record<string, unknown>,
): ChromeEvent {
  return { name, ph: 'M', ts: 0, pid, tid, args };
}

/** Converts one stream. */
class ThreadDrawing {
  readonly #stream: ThreadStream;
  readonly #pid: number;
  readonly #shift: number;
  readonly #types: MarkTypes;
  readonly #ids: TrackIds;
  readonly #tracks = new Map<number, MarkTrack>();
  #state: { name: string; begin: number } | undefined;
  #flush: number | undefined;

  constructor(stream: ThreadStream, pid: number, shift: number, types: MarkTypes, ids: TrackIds) {
    this.#stream = stream;
    this.#pid = pid;
    this.#shift = shift;
    this.#types = types;
    this.#ids = ids;
  }

  *events(progress: (bytes: number) => void): Generator<ChromeEvent, void> {
    const { path, tid, version } = this.#stream;
    yield metadata('thread_name', this.#pid, tid, { name: nameOf(this.#stream) });
    const reader = new StreamReader(path, { version, maxDataBytes: 1 << 16 });
    let now = 0;
    let count = 0;
    let fault: TraceFormatError | undefined;
    try {
      for (;;) {
        try {
          if (!reader.next()) break;
        } catch (error) {
          if (!(error instanceof TraceFormatError)) throw error;
          fault = error;
          break;
        }
        now = this.#now(reader.event);
        yield* this.#event(reader.event, now);
        count += 1;
        if (count % PROGRESS_EVENTS === 0) progress(reader.offset);
      }
    } finally {
      reader.close();
    }
    yield* this.#end(now);
    progress(reader.size);
    if (fault !== undefined) throw fault;
  }

  /** Nanoseconds, exact up to 2^53: a hundred days of CLOCK_MONOTONIC. */
  #now({ clockHigh, clockLow }: StreamEvent): number {
    return clockHigh * 2 ** 32 + clockLow + this.#shift;
  }

  *#event(event: StreamEvent, now: number): Generator<ChromeEvent, void> {
    const { code } = event;
    const transition = transitionOf(code);
    if (transition !== undefined) {
      yield* this.#endState(now);
      if (transition.to !== 'dead') this.#state = { name: transition.to, begin: now };
      return;
    }
    if (code === FLUSH_BEGIN) {
      this.#flush = now;
    } else if (code === FLUSH_END) {
      yield* this.#endFlush(now);
    } else if (
      (code === MARK_PUSH || code === MARK_POP || code === MARK_SET) &&
      !event.jumbo &&
      event.payloadBytes === 12
    ) {
      yield* this.#mark(code, event.i32(8), event.i64(0), now);
    } else {
      const decoded = Object.entries(decodeArguments(event) ?? {});
      yield {
        name: event.mcv,
        ph: 'i',
        s: 't',
        cat: 'event',
        ts: now / 1000,
        pid: this.#pid,
        tid: this.#stream.tid,
        ...(decoded.length > 0 && {
          args: Object.fromEntries(decoded.map(([name, value]) => [name, jsonValue(value)])),
        }),
      };
    }
  }

  *#mark(code: number, type: number, value: bigint, now: number): Generator<ChromeEvent, void> {
    const from = code === MARK_SET ? countedFrom(this.#stream, type) : undefined;
    if (from !== undefined) {
      yield this.#counter(type, Number(value) - from, now);
      return;
    }
    let track = this.#tracks.get(type);
    if (track === undefined) {
      const mark = this.#types.get(type);
      const tid = this.#ids.take();
      track = { type, tid, mark, open: [] };
      this.#tracks.set(type, track);
      const title = mark?.title ?? `mark ${type}`;
      yield metadata('thread_name', this.#pid, tid, {
        name: `${title} (thread ${this.#stream.tid})`,
      });
      yield metadata('thread_sort_index', this.#pid, tid, { sort_index: this.#stream.tid });
    }
    const { open } = track;
    if (code === MARK_PUSH) {
      if (open.length < MAX_MARK_DEPTH) open.push({ value, begin: now });
    } else if (code === MARK_SET) {
      yield* this.#endMarks(track, 0, now);
      open.push({ value, begin: now });
    } else {
      const at = open.findLastIndex((mark) => mark.value === value);
      if (at !== -1) yield* this.#endMarks(track, at, now);
    }
  }

  /** Viewers have one counter of a name in each process. */
  #counter(type: number, value: number, now: number): ChromeEvent {
    const { tid } = this.#stream;
    const name = `${this.#types.get(type)?.title ?? `mark ${type}`} (thread ${tid})`;
    return { name, ph: 'C', ts: now / 1000, pid: this.#pid, tid, args: { value } };
  }

  /** Ends the marks of a track from the top down to this depth. */
  *#endMarks(track: MarkTrack, depth: number, now: number): Generator<ChromeEvent, void> {
    while (track.open.length > depth) {
      const { value, begin } = track.open.pop()!;
      yield {
        ...this.#slice(track.mark?.labels.get(value) ?? value.toString(), 'mark', begin, now),
        tid: track.tid,
        args: { value: jsonValue(value), type: track.type },
      };
    }
  }

  *#endState(now: number): Generator<ChromeEvent, void> {
    if (this.#state === undefined) return;
    yield this.#slice(this.#state.name, 'state', this.#state.begin, now);
    this.#state = undefined;
  }

  *#endFlush(now: number): Generator<ChromeEvent, void> {
    if (this.#flush === undefined) return;
    yield this.#slice('flush', 'flush', this.#flush, now);
    this.#flush = undefined;
  }

  *#end(now: number): Generator<ChromeEvent, void> {
    for (const track of this.#tracks.values()) yield* this.#endMarks(track, 0, now);
    yield* this.#endFlush(now);
    yield* this.#endState(now);
  }

  /** A clock that goes back would make a slice of negative length. */
  #slice(name: string, cat: string, begin: number, end: number): ChromeEvent {
    return {
      name,
      ph: 'X',
      cat,
      ts: begin / 1000,
      dur: Math.max(0, end - begin) / 1000,
      pid: this.#pid,
      tid: this.#stream.tid,
    };
  }
}
