import type { ChromeEvent } from '../core/chrome-event.js';
import { TraceFormatError } from '../core/errors.js';
import { UnusedNumbers } from '../core/unused-numbers.js';
import { timeZeroLabel } from '../core/wall-clock.js';
import type { FoundTrace } from './find-traces.js';
import type { JobOptions } from './trace-format.js';

const NANOSECONDS_PER_MICROSECOND = 1000;

/** Callbacks of a merge. */
export interface MergeOptions {
  /** Options for reading a trace. */
  job(trace: FoundTrace): JobOptions;
  /** Called when a trace is faulty, after the events before the fault. */
  onFault(fault: TraceFormatError): void;
}

/** Position of a trace's clock on the common time line. */
interface Placement {
  trace: FoundTrace;
  /** Nanoseconds that are added to its times. */
  shift: number;
  /** A label that replaces the trace's own; undefined: keep that. */
  label: string | undefined;
}

/**
 * Merges the events of several traces. Each trace keeps its own processes: a process id that another
 * trace uses is replaced.
 *
 * Traces with an epoch are aligned: the earliest epoch becomes time 0. A trace without one cannot be
 * aligned, for instance an ovni trace of another library, whose CLOCK_MONOTONIC has no known start.
 * A single trace keeps its times. Next to others it is shifted to begin at 0, and a label on each of
 * its processes says by how much.
 */
export function* mergedChromeEvents(
  traces: readonly FoundTrace[],
  options: MergeOptions,
): Generator<ChromeEvent, void> {
  const pidsOfAll = new UnusedNumbers();
  for (const [index, placement] of place(traces).entries()) {
    const { trace } = placement;
    const pids = new Map<number, number>();
    try {
      for (const event of trace.format.chromeEvents(trace.path, options.job(trace))) {
        let pid = pids.get(event.pid);
        if (pid === undefined) {
          pid = pidsOfAll.find(event.pid);
          pids.set(event.pid, pid);
          if (placement.label !== undefined) {
            const args = { labels: placement.label };
            yield { name: 'process_labels', ph: 'M', ts: 0, pid, tid: 0, args };
          }
        }
        // The trace's own label about its time 0 is wrong after the shift.
        if (event.name === 'process_labels' && placement.label !== undefined) continue;
        event.pid = pid;
        if (event.id !== undefined) event.id = `${index}.${event.id}`;
        if (event.ph !== 'M') event.ts = shifted(event.ts, placement.shift);
        yield event;
      }
    } catch (error) {
      if (!(error instanceof TraceFormatError)) throw error;
      options.onFault(error);
    }
    for (const pid of pids.values()) pidsOfAll.use(pid);
  }
}

function place(traces: readonly FoundTrace[]): Placement[] {
  if (traces.length === 1) return [{ trace: traces[0]!, shift: 0, label: undefined }];
  const epochs = traces.map((trace) => unlessFaulty(() => trace.format.epoch(trace.path)));
  const known = epochs.filter((epoch) => epoch !== undefined);
  const earliest = known.reduce((least, epoch) => (epoch < least ? epoch : least), known[0] ?? 0n);
  return traces.map((trace, i) => {
    const { format, path } = trace;
    const epoch = epochs[i];
    if (epoch !== undefined) {
      return { trace, shift: Number(epoch - earliest), label: timeZeroLabel(earliest) };
    }
    const first = unlessFaulty(() => format.firstTime(path)) ?? 0n;
    const label = `${format.clock} minus ${first.toString()} ns, not aligned with the other traces`;
    return { trace, shift: -Number(first), label };
  });
}

function unlessFaulty<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // Reading the events finds the same fault and reports it.
    if (error instanceof TraceFormatError) return undefined;
    throw error;
  }
}

/** Adds whole nanoseconds: a sum of fractions of microseconds would change the last digits. */
function shifted(ts: number, shift: number): number {
  if (shift === 0) return ts;
  return (Math.round(ts * NANOSECONDS_PER_MICROSECOND) + shift) / NANOSECONDS_PER_MICROSECOND;
}
