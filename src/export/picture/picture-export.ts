import { unlessFaulty, untilFault } from '../../core/fault.js';
import type { Progress } from '../../core/finding.js';
import { timeZeroLabel } from '../../core/wall-clock.js';
import type { RowTrack } from '../../rows/row-batch.js';
import type { FoundTrace } from '../../traces/find-traces.js';
import { alignOnTimeLine } from '../../traces/time-line.js';
import type { Placement } from '../../traces/time-line.js';
import type { Extent } from '../../look/condition/time-point.js';
import { ALL, type ExportOptions, isAll, needsExtent } from '../selection.js';
import { rowFilter } from '../row-cursor.js';
import type { RowFilter } from '../row-cursor.js';
import { surveyRows } from '../row-survey.js';
import type { RowSurvey, SpanNote } from '../row-survey.js';
import { PacketWriter } from '../perfetto/packet-writer.js';
import { Picture } from './picture.js';
import { drawRows } from './row-picture.js';
import { SpanFlows } from './span-flows.js';
import { GroupedSpans } from './span-groups.js';

/**
 * Traces as a picture for Perfetto. Traces with spans are gone through twice: first for their times and their
 * connections, then to be drawn. Memory does not grow with the recording, except for connections between threads.
 *
 * Traces with an epoch are on one time line, and its zero is the earliest of their rows. A trace without one cannot be
 * aligned, for instance an ovni trace of another library, whose CLOCK_MONOTONIC has no known start. Alone it keeps its
 * times, unless they are so large that a viewer would round them; next to others it begins at 0.
 */
export class PictureExport {
  readonly #traces: readonly FoundTrace[];
  readonly #packets = new PacketWriter();
  readonly #options: ExportOptions;
  readonly #flows = new SpanFlows();

  constructor(traces: readonly FoundTrace[], options: ExportOptions = {}) {
    this.#traces = traces;
    this.#options = options;
  }

  /** Slices, instants and values of counters so far. */
  get events(): number {
    return this.#packets.events;
  }

  /** Spans that could not be connected with their parents, because there were too many. */
  get unconnected(): number {
    return this.#flows.left;
  }

  /** The bytes of the file. */
  *chunks(): Generator<Buffer, void> {
    const { selection = ALL, onFault } = this.#options;
    const { placements: given, zero: earliest } = alignOnTimeLine(this.#traces);
    const threads = new ThreadNumbers();
    // A selection needs the times of all. Connections are looked for among what is selected.
    const surveys = this.#survey(given, isAll(selection) ? threads : undefined);
    const first = earliest === undefined ? undefined : startOf(given, surveys);
    const start = first === undefined ? undefined : earliest! + first;
    const placements =
      first === undefined ? given : given.map((each) => moved(each, first, start!));
    const origin = first === undefined ? firstTimeOf(placements) : 0;
    const length = needsExtent(selection) ? lengthOf(given, surveys, first ?? 0n) - origin : 0;
    const extent: Extent = { epoch: start ?? BigInt(Math.round(origin)), length };
    const accepts = rowFilter(selection, extent, origin);
    if (accepts !== undefined) this.#survey(placements, threads, accepts, start);
    this.#findEarlierParents(placements, threads, accepts, start);

    const packets = this.#packets;
    if (start !== undefined) packets.clock(start);
    const picture = new Picture(packets);
    const spans = new GroupedSpans(packets, this.#flows);
    for (const placement of placements) {
      const { format, path } = placement.trace;
      const progress = this.#options.progress?.(placement.trace);
      const onProgress = format.content === 'spans' ? progress && half(progress, 1) : progress;
      const drawing = { picture, spans, accepts };
      const draw = () =>
        drawRows(drawing, placement, zeroOf(placement, start), { onProgress, onFault });
      yield* untilFault(onFault, path, draw);
    }
    yield* spans.end();
    yield packets.take();
  }

  /** Looks at the traces with spans; the others have no survey. */
  #survey(
    placements: readonly Placement[],
    threads: ThreadNumbers | undefined,
    accepts?: RowFilter,
    start?: bigint,
  ): (RowSurvey | undefined)[] {
    return placements.map((placement) => {
      const { format } = placement.trace;
      if (format.content !== 'spans') return undefined;
      const progress = this.#options.progress?.(placement.trace);
      const numberOf = threads?.ofTrace(placement.trace);
      const note: SpanNote | undefined =
        numberOf &&
        ((track, high, low, parentHigh, parentLow) => {
          this.#flows.note(numberOf(track), high, low, parentHigh, parentLow);
        });
      const zero = zeroOf(placement, start);
      return surveyRows(placement, {
        note,
        accepts,
        zero,
        onProgress: progress && half(progress, 0),
      });
    });
  }

  /** Parents that were read before their children: a second look finds them. */
  #findEarlierParents(
    placements: readonly Placement[],
    threads: ThreadNumbers,
    accepts: RowFilter,
    start: bigint | undefined,
  ): void {
    if (!this.#flows.isWaiting || threads.count < 2) return;
    for (const placement of placements) {
      if (placement.trace.format.content !== 'spans') continue;
      const numberOf = threads.ofTrace(placement.trace);
      const note: SpanNote = (track, high, low) => {
        this.#flows.noteParent(numberOf(track), high, low);
      };
      surveyRows(placement, { note, accepts, zero: zeroOf(placement, start) });
    }
  }
}

/** Numbers the threads of all traces. The pieces of a trace have the same ones. */
class ThreadNumbers {
  readonly #numbers = new Map<string, number>();

  get count(): number {
    return this.#numbers.size;
  }

  /** The numbers of the threads of a trace. */
  ofTrace({ format, path }: FoundTrace): (track: RowTrack) => number {
    const trace = format.traceOf?.(path) ?? path;
    let last: RowTrack | undefined;
    let number = -1;
    return (track) => {
      if (track === last) return number;
      const key = `${track.thread} ${trace}`;
      number = this.#numbers.get(key) ?? this.#numbers.size;
      this.#numbers.set(key, number);
      last = track;
      return number;
    };
  }
}

/** The moment from which a placement's times count; the zero of its own clock if nobody knows that. */
function zeroOf({ isAligned, shift }: Placement, start: bigint | undefined): bigint {
  return isAligned && start !== undefined ? start : -shift;
}

/** The earliest time of a trace, on the time line. */
function firstTime({ trace: { format, path }, shift }: Placement): bigint {
  return shift + (unlessFaulty(() => format.firstTime(path)) ?? 0n);
}

/** The earliest time of the aligned traces, on their time line. */
function startOf(
  placements: readonly Placement[],
  surveys: readonly (RowSurvey | undefined)[],
): bigint {
  let start: bigint | undefined;
  for (const [i, placement] of placements.entries()) {
    if (!placement.isAligned) continue;
    const survey = surveys[i];
    const first =
      survey === undefined ? firstTime(placement) : (survey.recordedStart ?? survey.start);
    if (first !== undefined && (start === undefined || first < start)) start = first;
  }
  return start ?? 0n;
}

/** The earliest time of traces of which none is aligned, on their time line. */
function firstTimeOf(placements: readonly Placement[]): number {
  return Math.min(...placements.map((placement) => Number(firstTime(placement))));
}

/** The latest time, in nanoseconds after `first`. Traces without spans are read for it. */
function lengthOf(
  placements: readonly Placement[],
  surveys: readonly (RowSurvey | undefined)[],
  first: bigint,
): number {
  const ends = placements.map((placement, i) => {
    const { end = 0n } = surveys[i] ?? surveyRows(placement, {});
    return Number(placement.isAligned ? end - first : end);
  });
  return Math.max(0, ...ends);
}

/** An aligned trace, where the zero of the picture is the start of the recording. */
function moved(placement: Placement, first: bigint, start: bigint): Placement {
  if (!placement.isAligned) return placement;
  return { ...placement, shift: placement.shift - first, label: timeZeroLabel(start) };
}

const half =
  (onProgress: Progress, which: 0 | 1): Progress =>
  (done, total) => {
    onProgress(which * total + done, 2 * total);
  };
