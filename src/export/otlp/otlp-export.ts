import type { FoundTrace } from '../../traces/find-traces.js';
import type { ExportOptions } from '../selection.js';
import { SpanStream } from '../span-stream.js';
import { requestJson } from './otlp-json.js';
import { RequestEncoder } from './otlp-protobuf.js';
import { SpanBatches } from './span-batches.js';

/**
 * The spans of Heph files as requests of OTLP (ExportTraceServiceRequest): one line of JSON each, or
 * protobuf with a varint of its length before each.
 */
export class OtlpExport {
  readonly stream: SpanStream;
  readonly #batches: SpanBatches;

  constructor(traces: readonly FoundTrace[], options: ExportOptions = {}) {
    this.stream = new SpanStream(traces, options);
    this.#batches = new SpanBatches(this.stream);
  }

  /** Spans that were left out, because an id of zeros is not valid in OTLP. */
  get invalid(): number {
    return this.#batches.invalid;
  }

  /** The bytes of the file. Each chunk is a whole request. */
  *chunks(encoding: 'json' | 'protobuf'): Generator<Buffer, void> {
    const encoder = encoding === 'json' ? undefined : new RequestEncoder();
    for (const batch of this.#batches.batches()) {
      yield encoder === undefined
        ? Buffer.from(`${requestJson(batch)}\n`, 'utf8')
        : encoder.encode(batch);
    }
  }
}
