import { mayCompile } from '../../core/ring/compile.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import type { EventTrace } from '../../heph/write/event-stream.js';
import { EventShapes, MAX_NAMES } from '../../heph/write/event-shapes.js';
import type { Policy } from '../policy.js';
import type { Span } from '../span.js';
import { openSpanCompiler } from './span-shapes.js';
import type { OpenSpanWriter, ShapedSpans } from './span-shapes.js';

/** What open spans need of the output of their thread. */
export interface SpanEncoder extends ShapedSpans {
  readonly trace: EventTrace;
  readonly policy: Policy;
  /** The record of a span that is still open, of at most `limit` bytes; undefined: it cannot be so small. */
  encodeOpen(span: Span, limit: number): Buffer | undefined;
}

/**
 * The spans of a thread that are open: a record of each in its final bytes, marked as unfinished. What
 * ends the process writes them.
 */
export class OpenSpans {
  readonly #output: SpanEncoder;
  readonly #table: OpenRecords;
  readonly #shapes: EventShapes<OpenSpanWriter> | undefined;

  constructor(output: SpanEncoder, table: OpenRecords) {
    this.#output = output;
    this.#table = table;
    this.#shapes = mayCompile()
      ? new EventShapes(output.trace, openSpanCompiler(output, table))
      : undefined;
  }

  /** Takes a place for a span that has started; -1: there is none, which is counted. */
  begin(span: Span): number {
    const at = this.#table.take();
    if (at === -1) return -1;
    let length = 0;
    try {
      length = this.#writeUsual(span, at) || this.#writeAny(span, at);
    } catch {
      // An attribute that cannot be read. Spans break no program.
    }
    if (length > 0) {
      this.#table.publish(at, length);
      return at;
    }
    this.#table.release(at);
    this.#table.countUnkept();
    return -1;
  }

  /** The next commit is that of the span. */
  ending(place: number): void {
    this.#table.ending(place);
  }

  /** Frees the place of a span that has ended. */
  end(place: number): void {
    this.#table.release(place);
  }

  #writeUsual(span: Span, at: number): number {
    const { limits, redactor } = this.#output.policy;
    if (
      span.extras !== undefined ||
      span.traceState !== '' ||
      redactor !== undefined ||
      limits.valueLength < 0x7fff_ffff ||
      limits.attributes < MAX_NAMES
    ) {
      return 0;
    }
    const writer = this.#shapes?.emitterFor(span.name, span.attributes);
    return writer === undefined ? 0 : writer(span, at);
  }

  #writeAny(span: Span, at: number): number {
    const bytes = this.#output.encodeOpen(span, this.#table.longest);
    if (bytes === undefined) return 0;
    this.#table.bytes.set(bytes, at);
    return bytes.length;
  }
}
