import { TraceFormatError } from '../../core/errors.js';
import { untilFault } from '../../core/fault.js';
import { sizeOf } from '../../core/files/file-kind.js';
import { jsonValue } from '../../core/json.js';
import type { JsonObject } from '../../core/json.js';
import { UnusedNumbers } from '../../core/unused-numbers.js';
import type {
  AttributeReader,
  RowCounter,
  RowOptions,
  RowProcess,
  RowReading,
  RowTrack,
} from '../../rows/row-batch.js';
import { RowBuilder } from '../../rows/row-builder.js';
import { MAX_DEPTH } from '../mark-stacks.js';
import { transitionOf } from '../thread-state.js';
import { decodeArguments } from './event-arguments.js';
import { objectIn } from './metadata.js';
import type { MarkType } from './metadata.js';
import { openInOrder } from './ordered-reader.js';
import {
  StreamReader,
  FLUSH_BEGIN,
  FLUSH_END,
  MARK_PUSH,
  MARK_POP,
  MARK_SET,
  PROGRESS_EVENTS,
} from './reader.js';
import type { StreamEvent } from './reader.js';
import { clockOffsetOf, markTypesOf, readTraceDirectory } from './trace-directory.js';
import type { MarkTypes, ThreadStream } from './trace-directory.js';

/** Tracks of marks have thread ids above every real one of Linux. */
const FIRST_MARK_TID = 1 << 22;

/** A value of a mark that has begun and not ended. */
interface OpenMark {
  readonly value: bigint;
  readonly begin: bigint;
  readonly offset: number;
}

/** A mark type as one thread has it: a track of its own. */
interface MarkTrack {
  readonly track: RowTrack;
  readonly mark: MarkType | undefined;
  /** The values of a stack, the last one on top; of a single mark at most one. */
  readonly open: OpenMark[];
}

/**
 * The rows of an ovni trace. Times are those of the trace's clock (CLOCK_MONOTONIC) with the offsets of
 * `clock-offsets.txt`.
 *
 * States of a thread (running, paused, cooling, warming) and the flushes inside them lie on a track of the
 * thread, its other events as instants. Each mark type that a thread uses has a track below the thread, with
 * the type's title: values of a stack nest, values of a single mark follow one another. A row has the label of
 * its value, or the value. Single marks that count something (`node.counters` among the attributes of the
 * stream) become curves. What is open at the end of a stream ends with its last event. A mark that is popped
 * out of order ends all marks above it.
 *
 * If a process id occurs in two looms, the second process gets another number; its name has the real one. A
 * stream is read after the other, so rows are in the order of their ends within a thread only.
 *
 * @throws TraceFormatError for a stream that is not as the format requires, unless there is `onFault`. The
 *   rows before the fault have been yielded, and what was open has been ended.
 */
export function readRows(path: string, options: RowOptions): RowReading {
  return { batches: () => batches(path, options) };
}

function* batches(path: string, options: RowOptions): Generator<RowBuilder, void> {
  const { onProgress, onFault } = options;
  const trace = readTraceDirectory(path, { onFault });
  const marks = markTypesOf(trace);
  const pids = new UnusedNumbers();
  const total = trace.streams.reduce((sum, stream) => sum + sizeOf(stream.path), 0);
  const isAlone = trace.looms.reduce((sum, { processes }) => sum + processes.length, 0) === 1;
  let done = 0;
  for (const { name, processes } of trace.looms) {
    for (const process of processes) {
      const pid = pids.take(process.pid);
      const { appId, rank } = process.metadata ?? process.threads[0]?.metadata ?? {};
      const also = `${appId === undefined ? '' : ` app ${appId}`}${rank === undefined ? '' : ` rank ${rank}`}`;
      const shown: RowProcess = { pid, name: `${name} proc ${process.pid}${also}` };
      const tids = new UnusedNumbers();
      for (const { tid } of process.threads) tids.take(tid);
      for (const stream of process.threads) {
        const offset = clockOffsetOf(trace, stream);
        const rows = new ThreadRows(stream, shown, isAlone, offset, marks, tids, options);
        const before = done;
        yield* untilFault(onFault, stream.path, () =>
          rows.batches((bytes) => {
            done = before + bytes;
            onProgress?.(done, total);
          }),
        );
      }
    }
  }
}

/** The name of a thread from the attribute `node.thread`, and its number. */
function nameOf({ tid, metadata: { attributes } }: ThreadStream): string {
  const name = objectIn(attributes, 'node')?.['thread'];
  return typeof name === 'string' ? `${name} (thread ${tid})` : `thread ${tid}`;
}

/**
 * Reads the number that is subtracted from values of a mark type that counts, from the attribute
 * `node.counters`; undefined: the type does not count.
 */
function countedFrom({ metadata: { attributes } }: ThreadStream, type: number): number | undefined {
  const from = objectIn(attributes, 'node', 'counters')?.[String(type)];
  return Number.isSafeInteger(from) ? (from as number) : undefined;
}

/** Makes a reader of the arguments that only a row's event has. */
function eventArguments({ path, version }: ThreadStream): AttributeReader {
  const reader = new StreamReader(path, { version, maxDataBytes: 1 << 16, windowBytes: 1 << 18 });
  const { event } = reader;
  return {
    at(offset) {
      reader.seek(offset);
      if (!reader.next()) return { attributes: {} };
      const decoded = isMark(event)
        ? { value: event.i64(0), type: event.i32(8) }
        : (decodeArguments(event) ?? {});
      return { attributes: jsonValue(decoded) as JsonObject };
    },
    close: () => {
      reader.close();
    },
  };
}

function isMark({ code, jumbo, payloadBytes }: StreamEvent): boolean {
  return (
    (code === MARK_PUSH || code === MARK_POP || code === MARK_SET) && !jumbo && payloadBytes === 12
  );
}

/** Reads one stream. */
class ThreadRows {
  readonly #stream: ThreadStream;
  readonly #process: RowProcess;
  readonly #prefix: string;
  readonly #offset: bigint;
  readonly #types: MarkTypes;
  readonly #tids: UnusedNumbers;
  readonly #options: RowOptions;
  readonly #track: RowTrack;
  readonly #marks = new Map<number, MarkTrack>();
  readonly #counters = new Map<number, Omit<RowCounter, 'times' | 'values'>>();
  #batch: RowBuilder;
  #state: { name: string; begin: bigint } | undefined;
  #flush: bigint | undefined;

  constructor(
    stream: ThreadStream,
    process: RowProcess,
    isAlone: boolean,
    offset: bigint,
    types: MarkTypes,
    tids: UnusedNumbers,
    options: RowOptions,
  ) {
    this.#stream = stream;
    this.#process = process;
    this.#prefix = isAlone ? '' : `${process.name}, `;
    this.#offset = offset;
    this.#types = types;
    this.#tids = tids;
    this.#options = options;
    this.#track = this.#newTrack('states', stream.tid, nameOf(stream));
    this.#batch = this.#newBatch(0);
  }

  *batches(progress: (bytes: number) => void): Generator<RowBuilder, void> {
    const { path, version } = this.#stream;
    const reader = openInOrder(path, { version, maxDataBytes: 1 << 16 });
    let now = 0n;
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
        now = reader.event.clock + this.#offset;
        this.#event(reader.event, now);
        count += 1;
        if (count % PROGRESS_EVENTS === 0) progress(reader.offset);
        if (this.#batch.isFull) {
          yield this.#batch;
          this.#batch = this.#newBatch(reader.offset);
        }
      }
    } finally {
      reader.close();
    }
    this.#end(now);
    yield this.#batch;
    progress(reader.size);
    if (fault !== undefined) throw fault;
  }

  #newBatch(offset: number): RowBuilder {
    return new RowBuilder(this.#options, offset, () => eventArguments(this.#stream));
  }

  #newTrack(kind: RowTrack['kind'], tid: number, label: string): RowTrack {
    const process = this.#process;
    return { kind, name: this.#prefix + label, thread: tid, process, tid, label };
  }

  #event(event: StreamEvent, now: bigint): void {
    const { code } = event;
    const transition = transitionOf(code);
    if (transition !== undefined) {
      this.#endState(now);
      if (transition.to !== 'dead') this.#state = { name: transition.to, begin: now };
    } else if (code === FLUSH_BEGIN) {
      this.#flush = now;
    } else if (code === FLUSH_END) {
      this.#endFlush(now);
    } else if (isMark(event)) {
      this.#mark(event, now);
    } else {
      this.#batch.addInstant(this.#track, event.mcv, now, event.offset);
    }
  }

  #mark(event: StreamEvent, now: bigint): void {
    const { code, offset } = event;
    const type = event.i32(8);
    const value = event.i64(0);
    const from = code === MARK_SET ? countedFrom(this.#stream, type) : undefined;
    if (from !== undefined) {
      this.#batch.count(this.#counter(type), now, Number(value) - from);
      return;
    }
    const marks = this.#marksOf(type);
    const { open } = marks;
    if (code === MARK_PUSH) {
      if (open.length < MAX_DEPTH) open.push({ value, begin: now, offset });
    } else if (code === MARK_SET) {
      this.#endMarks(marks, 0, now);
      open.push({ value, begin: now, offset });
    } else {
      const at = open.findLastIndex((mark) => mark.value === value);
      if (at !== -1) this.#endMarks(marks, at, now);
    }
  }

  #marksOf(type: number): MarkTrack {
    let marks = this.#marks.get(type);
    if (marks === undefined) {
      const mark = this.#types.get(type);
      const label = `${mark?.title ?? `mark ${type}`} (thread ${this.#stream.tid})`;
      const track = this.#newTrack('mark', this.#tids.take(FIRST_MARK_TID), label);
      marks = { track, mark, open: [] };
      this.#marks.set(type, marks);
    }
    return marks;
  }

  /** Viewers have one counter of a name in each process. */
  #counter(type: number): Omit<RowCounter, 'times' | 'values'> {
    let counter = this.#counters.get(type);
    if (counter === undefined) {
      const { tid } = this.#stream;
      const name = `${this.#types.get(type)?.title ?? `mark ${type}`} (thread ${tid})`;
      counter = { process: this.#process, thread: tid, name, unit: '' };
      this.#counters.set(type, counter);
    }
    return counter;
  }

  /** Ends the marks of a track from the top down to this depth. */
  #endMarks({ track, mark, open }: MarkTrack, depth: number, now: bigint): void {
    while (open.length > depth) {
      const { value, begin, offset } = open.pop()!;
      this.#batch.add(track, mark?.labels.get(value) ?? value.toString(), begin, now, offset);
    }
  }

  #endState(now: bigint): void {
    if (this.#state === undefined) return;
    this.#batch.add(this.#track, this.#state.name, this.#state.begin, now);
    this.#state = undefined;
  }

  #endFlush(now: bigint): void {
    if (this.#flush === undefined) return;
    this.#batch.add(this.#track, 'flush', this.#flush, now);
    this.#flush = undefined;
  }

  #end(now: bigint): void {
    for (const marks of this.#marks.values()) this.#endMarks(marks, 0, now);
    this.#endFlush(now);
    this.#endState(now);
  }
}
