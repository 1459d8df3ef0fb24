import { unlessFaulty } from '../core/fault.js';
import { timeZeroLabel } from '../core/wall-clock.js';
import type { FoundTrace } from './find-traces.js';

/** Position of a trace's clock on the common time line. */
export interface Placement {
  trace: FoundTrace;
  /** Nanoseconds that are added to its times. */
  shift: bigint;
  /** Whether its times are on one line with those of the other traces that are. */
  isAligned: boolean;
  /** A label that replaces the trace's own; undefined: keep that. */
  label: string | undefined;
}

/** Traces on one time line. */
interface TimeLine {
  /** The zero of the aligned traces, in nanoseconds since 1970; undefined if there is none. */
  zero: bigint | undefined;
  placements: Placement[];
}

/** Times beyond some 13 days lose nanoseconds as microseconds, which viewers keep as doubles. */
const FAR = 2 ** 40 * 1000;

/**
 * Where traces lie on a common time line. Those with an epoch are aligned by it. Any other begins at 0,
 * unless it is alone.
 */
export function alignOnTimeLine(traces: readonly FoundTrace[]): TimeLine {
  const epochs = traces.map((trace) => unlessFaulty(() => trace.format.epoch(trace.path)));
  const firstOf = ({ format, path }: FoundTrace): bigint =>
    unlessFaulty(() => format.firstTime(path)) ?? 0n;
  const known = epochs.filter((epoch) => epoch !== undefined);
  const earliest = known.reduce((least, epoch) => (epoch < least ? epoch : least), known[0] ?? 0n);
  const aligned = traces.flatMap((trace, i) =>
    epochs[i] === undefined ? [] : [firstOf(trace) + epochs[i] - earliest],
  );
  const first = aligned.reduce((least, time) => (time < least ? time : least), aligned[0] ?? 0n);
  // Viewers drop what is before 0.
  const zero = first > FAR || first < 0n ? earliest + first : earliest;
  const placements = traces.map((trace, i): Placement => {
    const epoch = epochs[i];
    const isAlone = traces.length === 1;
    if (epoch !== undefined) {
      if (isAlone && zero === epoch) return { trace, isAligned: true, shift: 0n, label: undefined };
      return { trace, isAligned: true, shift: epoch - zero, label: timeZeroLabel(zero) };
    }
    const begin = firstOf(trace);
    if (isAlone && begin <= FAR) {
      const label = `time 0 is not known: times are those of ${trace.format.clock}`;
      return { trace, isAligned: false, shift: 0n, label };
    }
    const label = `${trace.format.clock} minus ${begin.toString()} ns`;
    const notAligned = isAlone ? '' : ', not aligned with the other traces';
    return { trace, isAligned: false, shift: -begin, label: label + notAligned };
  });
  return { zero: known.length === 0 ? undefined : zero, placements };
}
