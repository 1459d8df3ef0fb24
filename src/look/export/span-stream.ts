import { TraceFormatError } from '../../core/errors.js';
import { PacketCursor } from '../../heph/read/packet-cursor.js';
import { SpanDecoder } from '../../spans/read/span-decoder.js';
import type { SpanRecord } from '../../spans/span-record.js';
import type { FoundTrace } from '../../traces/find-traces.js';
import type { Extent } from '../condition/time-point.js';
import type { ExportOptions } from './export-options.js';
import { surveySpans } from './span-survey.js';
import { ALL, needsExtent, spanTest } from './selection.js';

/** Reads the selected spans of Heph files, one file after another. */
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
      try {
        yield* this.#file(trace, accepts);
      } catch (error) {
        if (!(error instanceof TraceFormatError)) throw error;
        onFault?.(error);
      }
    }
  }

  *#file(
    trace: FoundTrace,
    accepts: ((span: SpanRecord) => boolean) | undefined,
  ): Generator<SpanRecord, void> {
    const onProgress = this.#options.progress?.(trace);
    const cursor = new PacketCursor(trace.path, onProgress && { onProgress });
    const decoder = new SpanDecoder(trace.path);
    try {
      while (cursor.next()) {
        if (!cursor.isEvent) {
          const packet = cursor.packet();
          if (packet.kind === 'metadata' && packet.epoch !== undefined) {
            decoder.epoch = packet.epoch;
          }
          continue;
        }
        const span = decoder.decode(cursor);
        if (span === undefined) {
          if (!decoder.isDefinition && !decoder.isClock) this.otherEvents++;
        } else if (accepts?.(span) !== false) {
          this.spans++;
          this.bytes = cursor.size;
          yield span;
        }
      }
    } finally {
      cursor.close();
    }
  }

  /** Where the recording lies in time. */
  #extent(): Extent {
    let start: bigint | undefined;
    let end = 0n;
    for (const { path } of this.#traces) {
      const survey = surveySpans(path, undefined, undefined, undefined);
      if (survey.start === undefined || survey.end === undefined) continue;
      if (start === undefined || survey.start < start) start = survey.start;
      if (survey.end > end) end = survey.end;
    }
    return { epoch: start ?? 0n, length: Number(end - (start ?? end)) };
  }
}
