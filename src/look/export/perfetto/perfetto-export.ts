import { dirname, join } from 'node:path';
import { unlessFaulty, untilFault } from '../../../core/fault.js';
import type { Progress } from '../../../core/finding.js';
import { timeZeroLabel } from '../../../core/wall-clock.js';
import { nameOfTrace } from '../../../heph/file-names.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import { hephFormat } from '../../../traces/heph-format.js';
import { placeOnTimeLine } from '../../../traces/time-line.js';
import type { Placement } from '../../../traces/time-line.js';
import type { RowTest } from '../../condition/span-condition.js';
import type { Extent } from '../../condition/time-point.js';
import { EXPORTED_ROWS } from '../export-options.js';
import type { ExportOptions } from '../export-options.js';
import { ALL, isAll, needsExtent, rowTest, spanTest } from '../selection.js';
import { HephPicture } from './heph-picture.js';
import { PacketWriter } from './packet-writer.js';
import { Picture } from './picture.js';
import { drawRows } from './row-picture.js';
import { SpanFlows } from './span-flows.js';
import { surveySpans } from '../span-survey.js';
import type { SpanNote, SpanSurvey } from '../span-survey.js';

/**
 * Traces as a file of Perfetto (protobuf, TrackEvent). Spans are gone through twice: first for their
 * times and their connections, then to be written. Memory does not grow with the recording, except for
 * connections between threads.
 */
export class PerfettoExport {
  readonly #traces: readonly FoundTrace[];
  readonly #options: ExportOptions;
  readonly #writer = new PacketWriter();
  readonly #flows = new SpanFlows();

  constructor(traces: readonly FoundTrace[], options: ExportOptions = {}) {
    this.#traces = traces;
    this.#options = options;
  }

  /** Slices, instants and values of counters written so far. */
  get events(): number {
    return this.#writer.events;
  }

  /** Spans that could not be connected with their parents, because there were too many. */
  get unconnected(): number {
    return this.#flows.left;
  }

  /** The bytes of the file. Each chunk ends with a whole packet. */
  *chunks(): Generator<Buffer, void> {
    const { selection = ALL } = this.#options;
    const { placements, zero: aligned } = placeOnTimeLine(this.#traces);
    const threads = new ThreadNumbers();
    // A selection needs the times of all. Connections are looked for among what is selected.
    let surveys = this.#survey(placements, isAll(selection) ? threads : undefined, undefined);
    const start = aligned === undefined ? undefined : startOf(placements, surveys, aligned);
    const origin = start === undefined ? firstTimeOf(placements) : 0;
    const length = needsExtent(selection) ? lengthOf(placements, surveys, start ?? 0n) - origin : 0;
    const extent: Extent = { epoch: start ?? BigInt(Math.round(origin)), length };
    const accepts = spanTest(selection, extent);
    if (accepts !== undefined) surveys = this.#survey(placements, threads, accepts);
    this.#findEarlierParents(placements, threads, accepts);

    const writer = this.#writer;
    if (start !== undefined) writer.clock(start);
    const picture = new Picture(writer);
    const test = rowTest(selection, extent);
    const acceptsPlain: RowTest = (from, to, name, attributes) =>
      test(from - origin, to - origin, name, attributes);
    const spans = new HephPicture(picture, this.#flows, accepts, acceptsPlain);
    for (const [i, given] of placements.entries()) {
      const placement = moved(given, start, aligned);
      const { trace, shift } = placement;
      const survey = surveys[i];
      const { onFault } = this.#options;
      const onProgress = this.#options.progress?.(trace);
      yield* untilFault(onFault, trace.path, () => {
        if (survey !== undefined) {
          const zero = placement.isAligned ? start! : -shift;
          const source = { path: trace.path, survey, zero, label: placement.label };
          return spans.draw(source, onProgress && secondHalf(onProgress), onFault);
        }
        const job = { onProgress, onFault };
        return drawRows(picture, placement, acceptsPlain, !isAll(selection), job);
      });
    }
    yield* spans.end();
    yield writer.take();
  }

  /** Looks at the Heph files; the other traces have no survey. */
  #survey(
    placements: readonly Placement[],
    threads: ThreadNumbers | undefined,
    accepts: SpanTest,
  ): (SpanSurvey | undefined)[] {
    return placements.map(({ trace: { format, path }, trace }) => {
      if (format !== hephFormat) return undefined;
      const onProgress = this.#options.progress?.(trace);
      const numberOf = threads?.ofFile(path);
      const note: SpanNote | undefined =
        numberOf &&
        ((stream, high, low, parentHigh, parentLow) => {
          this.#flows.note(numberOf(stream), high, low, parentHigh, parentLow);
        });
      return surveySpans(path, note, accepts, onProgress && firstHalf(onProgress));
    });
  }

  /** Parents that were read before their children: a second look finds them. */
  #findEarlierParents(
    placements: readonly Placement[],
    threads: ThreadNumbers,
    accepts: SpanTest,
  ): void {
    if (!this.#flows.isWaiting || threads.count < 2) return;
    for (const { trace } of placements) {
      if (trace.format !== hephFormat) continue;
      const numberOf = threads.ofFile(trace.path);
      const note: SpanNote = (stream, high, low) => {
        this.#flows.noteParent(numberOf(stream), high, low);
      };
      surveySpans(trace.path, note, accepts, undefined);
    }
  }
}

type SpanTest = ReturnType<typeof spanTest>;

/** Numbers the threads of all files. The pieces of a trace have the same ones. */
class ThreadNumbers {
  readonly #numbers = new Map<string, number>();

  get count(): number {
    return this.#numbers.size;
  }

  /** The numbers of the threads of a file, by stream. */
  ofFile(path: string): (stream: number) => number {
    const trace = join(dirname(path), nameOfTrace(path));
    let last = -1;
    let number = -1;
    return (stream) => {
      if (stream === last) return number;
      const key = `${stream} ${trace}`;
      number = this.#numbers.get(key) ?? this.#numbers.size;
      this.#numbers.set(key, number);
      last = stream;
      return number;
    };
  }
}

/** The earliest time of the aligned traces, in nanoseconds since 1970. */
function startOf(
  placements: readonly Placement[],
  surveys: readonly (SpanSurvey | undefined)[],
  aligned: bigint,
): bigint {
  let start: bigint | undefined;
  for (const [i, { trace, isAligned, shift }] of placements.entries()) {
    if (!isAligned) continue;
    const survey = surveys[i];
    const first =
      survey === undefined
        ? aligned + shift + (unlessFaulty(() => trace.format.firstTime(trace.path)) ?? 0n)
        : (survey.recordedStart ?? survey.start);
    if (first !== undefined && (start === undefined || first < start)) start = first;
  }
  return start ?? aligned;
}

/** The earliest time of traces of which none is aligned, on their time line. */
function firstTimeOf(placements: readonly Placement[]): number {
  const times = placements.map(({ trace: { format, path }, shift }) =>
    Number((unlessFaulty(() => format.firstTime(path)) ?? 0n) + shift),
  );
  return times.reduce((least, time) => Math.min(least, time), times[0] ?? 0);
}

/** The latest time, in nanoseconds after `start`. Traces that are no Heph files are read for it. */
function lengthOf(
  placements: readonly Placement[],
  surveys: readonly (SpanSurvey | undefined)[],
  start: bigint,
): number {
  let length = 0;
  for (const [i, { trace, isAligned, shift }] of placements.entries()) {
    const survey = surveys[i];
    if (survey?.end !== undefined && isAligned) {
      length = Math.max(length, Number(survey.end - start));
    } else {
      unlessFaulty(() => {
        const options = { zero: -shift, batchRows: EXPORTED_ROWS };
        for (const { rows } of trace.format.rows?.(trace.path, options).batches() ?? []) {
          for (let row = 0; row < rows.count; row++) {
            length = Math.max(length, rows.start[row]! + rows.duration[row]!);
          }
        }
      });
    }
  }
  return length;
}

/** An aligned trace, where the zero of the picture is the start of the recording. */
function moved(placement: Placement, start: bigint | undefined, aligned?: bigint): Placement {
  if (start === undefined || aligned === undefined || !placement.isAligned) return placement;
  return {
    ...placement,
    shift: placement.shift + aligned - start,
    label: timeZeroLabel(start),
  };
}

const firstHalf =
  (onProgress: Progress): Progress =>
  (done, total) => {
    onProgress(done, 2 * total);
  };

const secondHalf =
  (onProgress: Progress): Progress =>
  (done, total) => {
    onProgress(total + done, 2 * total);
  };
