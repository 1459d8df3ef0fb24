import { untilFault } from '../core/fault.js';
import { hephFormat } from '../spans/read/heph-format.js';
import { SpanDecoder } from '../spans/read/span-decoder.js';
import { SpanWalk } from '../spans/read/span-walk.js';
import type { SpanRecord } from '../spans/span-record.js';
import type { FoundTrace } from '../traces/find-traces.js';
import { alignOnTimeLine } from '../traces/time-line.js';
import type { Extent } from '../look/condition/time-point.js';
import { RowCursor } from './row-cursor.js';
import { ALL, EXPORTED_ROWS, type ExportOptions, needsExtent, spanTest } from './selection.js';
import { surveyRows } from './row-survey.js';

/** Reads the selected spans of traces, one after another. */
export class SpanStream {
  readonly #traces: readonly FoundTrace[];
  readonly #options: ExportOptions;
  /** Spans read so far. */
  spans = 0;
  /** Events that are no spans: those of programs that use Heph without `tracewright/spans`. */
  otherEvents = 0;
  /** Bytes that the last span takes in its file. */
  bytes = 0;

  constructor(traces: readonly FoundTrace[], options: ExportOptions = {}) {
    this.#traces = traces;
    this.#options = options;
  }

  /** The spans, in the order of each file: that of their ends in each thread. */
  *read(): Generator<SpanRecord, void> {
    const { selection = ALL, onFault } = this.#options;
    const extent = needsExtent(selection) ? this.#extent() : { epoch: 0n, length: 0 };
    const accepts = spanTest(selection, extent);
    for (const trace of this.#traces) {
      const read = () =>
        trace.format === hephFormat ? this.#file(trace, accepts) : this.#rows(trace, accepts);
      yield* untilFault(onFault, trace.path, read);
    }
  }

  /** The spans among the rows of a trace of any other format. */
  *#rows(
    { format, path }: FoundTrace,
    accepts: ((span: SpanRecord) => boolean) | undefined,
  ): Generator<SpanRecord, void> {
    const { onFault } = this.#options;
    const zero = format.firstTime(path) ?? 0n;
    const epoch = format.epoch(path) ?? 0n;
    const reading = format.rows?.(path, { zero, batchRows: EXPORTED_ROWS, onFault });
    for (const batch of reading?.batches() ?? []) {
      const row = new RowCursor(batch, epoch + zero);
      try {
        while (row.next()) {
          if (!row.isSpan) {
            this.otherEvents++;
            continue;
          }
          const span = row.span();
          if (accepts?.(span) === false) continue;
          this.spans++;
          this.bytes = row.size;
          yield span;
        }
      } finally {
        row.close();
      }
    }
  }

  *#file(
    trace: FoundTrace,
    accepts: ((span: SpanRecord) => boolean) | undefined,
  ): Generator<SpanRecord, void> {
    const { progress, onFault } = this.#options;
    const onProgress = progress?.(trace);
    // A span is encoded before the next one is read, if it is large.
    const decoder = new SpanDecoder(trace.path, { onDemand: true });
    const walk = new SpanWalk(trace.path, { onFault, onProgress }, decoder);
    try {
      while (walk.next()) {
        const { span } = walk;
        if (span === undefined) {
          this.otherEvents++;
        } else if (accepts?.(span) !== false) {
          this.spans++;
          this.bytes = walk.bytes;
          yield span;
        }
      }
    } finally {
      walk.close();
    }
  }

  /** Where the recording lies in time. */
  #extent(): Extent {
    const { placements, zero = 0n } = alignOnTimeLine(this.#traces);
    let start: bigint | undefined;
    let end = 0n;
    for (const placement of placements) {
      const survey = surveyRows(placement, {});
      if (survey.start === undefined || survey.end === undefined) continue;
      if (start === undefined || zero + survey.start < start) start = zero + survey.start;
      if (zero + survey.end > end) end = zero + survey.end;
    }
    return { epoch: start ?? 0n, length: Number(end - (start ?? end)) };
  }
}
