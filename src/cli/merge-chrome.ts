import type { ChromeEvent } from '../core/chrome-event.js';
import { TraceFormatError } from '../core/errors.js';
import { timeZeroLabel } from '../core/wall-clock.js';
import type { FoundTrace } from './detect.js';
import type { JobOptions } from './trace-format.js';

const NANOSECONDS_PER_MICROSECOND = 1000;

/** What a merge asks of its caller. */
export interface MergeOptions {
  /** What to tell about progress on a trace. */
  job(trace: FoundTrace): JobOptions;
  /** A trace ended in a fault; the events before it have been yielded. */
  onFault(fault: TraceFormatError): void;
}

/** Where a trace's clock is put on the common time line. */
interface Placement {
  trace: FoundTrace;
  /** Nanoseconds to add to its times. */
  shift: number;
  /** What a person should know about it, in place of what the trace says; undefined: as it is. */
  label: string | undefined;
}

/**
 * The events of several traces as those of one. Every trace keeps its processes to itself: a
 * process id that was taken gets another number.
 *
 * Clocks are lined up where the traces say how. Those with an epoch (Heph) are shifted so that the
 * earliest epoch is 0. One without (an ovni trace of another library counts CLOCK_MONOTONIC and does
 * not say when that began) cannot be lined up with others: it stays as it is when it is alone; else
 * it is shifted to begin at 0, and a label on each of its processes says so and by how much.
 */
export function* mergedChromeEvents(
  traces: readonly FoundTrace[],
  options: MergeOptions,
): Generator<ChromeEvent, void> {
  const taken = new Set<number>();
  for (const [index, placement] of place(traces).entries()) {
    const { trace } = placement;
    const pids = new Map<number, number>();
    try {
      for (const event of trace.format.chromeEvents(trace.path, options.job(trace))) {
        let pid = pids.get(event.pid);
        if (pid === undefined) {
          pid = event.pid;
          while (taken.has(pid)) pid++;
          pids.set(event.pid, pid);
          if (placement.label !== undefined) {
            const args = { labels: placement.label };
            yield { name: 'process_labels', ph: 'M', ts: 0, pid, tid: 0, args };
          }
        }
        // What the trace says of its own time 0 no longer holds.
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
    for (const pid of pids.values()) taken.add(pid);
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
    const label = `${format.clock} minus ${first.toString()} ns, not lined up with the other traces`;
    return { trace, shift: -Number(first), label };
  });
}

function unlessFaulty<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // Reading the trace itself will meet the same fault and report it.
    if (error instanceof TraceFormatError) return undefined;
    throw error;
  }
}

/** Sums in whole nanoseconds: adding fractions of microseconds would blur the last digits. */
function shifted(ts: number, shift: number): number {
  if (shift === 0) return ts;
  return (Math.round(ts * NANOSECONDS_PER_MICROSECOND) + shift) / NANOSECONDS_PER_MICROSECOND;
}
