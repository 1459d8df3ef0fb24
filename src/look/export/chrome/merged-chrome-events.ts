import { exactMicroseconds, nanosecondsOf } from '../../../core/chrome-event.js';
import type { ChromeEvent } from '../../../core/chrome-event.js';
import { untilFault } from '../../../core/fault.js';
import type { OnFault } from '../../../core/fault.js';
import { UnusedNumbers } from '../../../core/unused-numbers.js';
import { interpretedEvents } from '../../../heph/read/chrome.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import { runOf } from '../../../traces/run-directory.js';
import { placeOnTimeLine } from '../../../traces/time-line.js';
import type { Placement } from '../../../traces/time-line.js';
import type { JobOptions, TraceFormat } from '../../../traces/trace-format.js';
import { EXPORTED_ROWS } from '../export-options.js';
import { SpanInterpretation } from '../span-interpretation.js';
import { RowEvents } from './row-events.js';

/** Callbacks of a merge. */
export interface MergeOptions {
  /** Options for reading a trace. */
  job(trace: FoundTrace): JobOptions;
  /** Takes what cannot be read of a trace; everything else is merged. Default: throw the first fault. */
  onFault?: OnFault | undefined;
}

/** The tracks of a process in the picture. Several traces can be parts of it. */
class DrawnProcess {
  readonly pid: number;
  readonly #tids = new UnusedNumbers();
  /** Tracks by format and name. */
  readonly #tracks = new Map<string, number>();
  readonly #said = new Set<string>();
  /** By track: where the slices end of the traces so far, in nanoseconds. */
  readonly #ends = new Map<number, number>();

  constructor(pid: number) {
    this.pid = pid;
  }

  /** A track of a trace. Streams of an ovni thread, one in each piece of a trace, share one. */
  track(wanted: number, { name: format }: TraceFormat, name: unknown): number {
    const key = `${format} ${String(name)}`;
    const known = format === 'ovni' && name !== undefined ? this.#tracks.get(key) : undefined;
    if (known !== undefined) return known;
    const tid = this.#tids.find(wanted);
    this.#tids.use(tid);
    this.#tracks.set(key, tid);
    return tid;
  }

  /** A thread has its stream in the next piece before it leaves one, so the pieces overlap: cuts a slice. */
  cut(event: ChromeEvent): void {
    const end = this.#ends.get(event.tid);
    if (end === undefined || event.dur === undefined) return;
    const start = nanosecondsOf(event.ts);
    const late = Math.min(end - start, nanosecondsOf(event.dur));
    if (late <= 0) return;
    event.ts = exactMicroseconds(start + late);
    event.dur = exactMicroseconds(nanosecondsOf(event.dur) - late);
  }

  /** A trace is complete whose slices end there, by track. */
  addEnds(ends: ReadonlyMap<number, number>): void {
    for (const [tid, end] of ends) this.#ends.set(tid, Math.max(end, this.#ends.get(tid) ?? 0));
  }

  /** Whether nothing of this kind has been said of the process. */
  isFirst(metadata: string): boolean {
    if (this.#said.has(metadata)) return false;
    this.#said.add(metadata);
    return true;
  }
}

/** A process as a trace has it. */
interface TracedPart {
  process: DrawnProcess;
  tids: Map<number, number>;
  ends: Map<number, number>;
}

/** The processes of all traces. */
class DrawnProcesses {
  readonly #pids = new UnusedNumbers();
  readonly #ofRuns = new Map<string, DrawnProcess>();

  /** The process with this id in a trace: another trace of the same run can have had it already. */
  find({ path }: FoundTrace, pid: number): DrawnProcess {
    const run = runOf(path);
    const key = `${pid} ${String(run)}`;
    const known = run === undefined ? undefined : this.#ofRuns.get(key);
    if (known !== undefined) return known;
    const process = new DrawnProcess(this.#pids.find(pid));
    this.#pids.use(process.pid);
    this.#ofRuns.set(key, process);
    return process;
  }
}

/**
 * Merges the events of several traces. Each trace keeps its own processes: a process id that another
 * trace uses is replaced. Only the traces of one run of the register hook share their processes: what a
 * process has recorded in two formats, or in the pieces of a trace, is one process of the picture.
 *
 * Traces with an epoch are aligned: the earliest epoch becomes time 0. A trace without one cannot be
 * aligned, for instance an ovni trace of another library, whose CLOCK_MONOTONIC has no known start.
 * A single trace keeps its times, unless they are so large that a viewer would round them. Next to others
 * it is shifted to begin at 0, and a label on each of its processes says by how much.
 */
export function* mergedChromeEvents(
  traces: readonly FoundTrace[],
  options: MergeOptions,
): Generator<ChromeEvent, void> {
  const processes = new DrawnProcesses();
  const { onFault } = options;
  for (const [index, placement] of placeOnTimeLine(traces).placements.entries()) {
    const { trace, label } = placement;
    const parts = new Map<number, TracedPart>();
    const read = (): Iterable<ChromeEvent> =>
      eventsOf(placement, { onFault, ...options.job(trace) });
    for (const event of untilFault(onFault, trace.path, read)) {
      let part = parts.get(event.pid);
      if (part === undefined) {
        part = { process: processes.find(trace, event.pid), tids: new Map(), ends: new Map() };
        parts.set(event.pid, part);
        if (label !== undefined && part.process.isFirst('process_labels')) {
          const args = { labels: label };
          yield { name: 'process_labels', ph: 'M', ts: 0, pid: part.process.pid, tid: 0, args };
        }
      }
      if (event.ph === 'M' && event.name.startsWith('process_')) {
        // The trace's own label about its time 0 is wrong after the shift.
        if (event.name === 'process_labels' && label !== undefined) continue;
        if (!part.process.isFirst(event.name)) continue;
      } else {
        event.tid = trackOf(part, trace, event);
      }
      event.pid = part.process.pid;
      if (event.id !== undefined) event.id = `${index}.${event.id}`;
      if (event.ph === 'X') {
        if (placement.isAligned) part.process.cut(event);
        noteEnd(part.ends, event);
      }
      yield event;
    }
    for (const { process, ends } of parts.values()) process.addEnds(ends);
  }
}

function noteEnd(ends: Map<number, number>, { tid, ts, dur = 0 }: ChromeEvent): void {
  const end = nanosecondsOf(ts) + nanosecondsOf(dur);
  if (end > (ends.get(tid) ?? 0)) ends.set(tid, end);
}

function trackOf(part: TracedPart, { format }: FoundTrace, event: ChromeEvent): number {
  let tid = part.tids.get(event.tid);
  if (tid === undefined) {
    const name = event.name === 'thread_name' ? event.args?.['name'] : undefined;
    tid = part.process.track(event.tid, format, name);
    part.tids.set(event.tid, tid);
  }
  return tid;
}

/** The events of a trace, on the common time line. */
function eventsOf(placement: Placement, options: JobOptions): Iterable<ChromeEvent> {
  const { format, path } = placement.trace;
  if (format.rows === undefined) return eventsOfSpans(placement, options);
  const { onProgress, onFault } = options;
  const zero = -placement.shift;
  const reading = format.rows(path, { zero, batchRows: EXPORTED_ROWS, onProgress, onFault });
  return new RowEvents().of(reading);
}

function* eventsOfSpans(
  { trace: { path }, shift: nanoseconds }: Placement,
  { onProgress, onFault }: JobOptions,
): Generator<ChromeEvent, void> {
  const options = { onFault, ...(onProgress && { onProgress }) };
  for (const event of interpretedEvents(path, options, new SpanInterpretation(path))) {
    if (event.ph !== 'M') shift(event, Number(nanoseconds));
    yield event;
  }
}

/** Adds whole nanoseconds, and lets a viewer have the same ones. */
function shift(event: ChromeEvent, nanoseconds: number): void {
  event.ts = exactMicroseconds(nanosecondsOf(event.ts) + nanoseconds);
  if (event.dur !== undefined) event.dur = exactMicroseconds(nanosecondsOf(event.dur));
}
