import type { SpanRecord } from '../../spans/span-record.js';
import type { FoundTrace } from '../../traces/find-traces.js';
import type { ExportOptions } from '../selection.js';
import { SpanStream } from '../span-stream.js';
import { inPieces } from '../json-text.js';
import { requestPieces } from './otlp-json.js';
import { RequestEncoder } from './otlp-protobuf.js';
import { groupSpans, hasValidIds } from './span-batches.js';
import type { ResourceBatch } from './span-batches.js';

/** Spans of a request, and bytes that they take in their file: collectors accept 4 MiB at least. */
const MAX_SPANS = 1000;
const MAX_BYTES = 1 << 20;

const NEW_LINE = Buffer.from('\n');

/**
 * The spans of Heph files as requests of OTLP (ExportTraceServiceRequest): one line of JSON each, or
 * protobuf with a varint of its length before each.
 */
export class OtlpExport {
  readonly stream: SpanStream;
  /** Spans that were left out, because an id of zeros is not valid in OTLP. */
  invalid = 0;

  constructor(traces: readonly FoundTrace[], options: ExportOptions = {}) {
    this.stream = new SpanStream(traces, options);
  }

  /** The bytes of the file. */
  *chunks(encoding: 'json' | 'protobuf'): Generator<Buffer, void> {
    const encoder = new RequestEncoder();
    for (const batch of this.#batches()) {
      if (encoding === 'protobuf') yield encoder.encode(batch);
      else {
        for (const piece of inPieces(requestPieces(batch))) yield Buffer.from(piece, 'utf8');
        yield NEW_LINE;
      }
    }
  }

  /** The spans of each request. */
  *#batches(): Generator<ResourceBatch[], void> {
    let batch: SpanRecord[] = [];
    let bytes = 0;
    for (const span of this.stream.read()) {
      if (!hasValidIds(span)) {
        this.invalid++;
        continue;
      }
      batch.push(span);
      bytes += this.stream.bytes;
      if (batch.length < MAX_SPANS && bytes < MAX_BYTES) continue;
      yield groupSpans(batch);
      [batch, bytes] = [[], 0];
    }
    if (batch.length > 0) yield groupSpans(batch);
  }
}
