import { mayCompile } from '../../core/ring/compile.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import type { Ring } from '../../core/ring/ring.js';
import { DESCRIPTION_OFFSET } from '../../heph/layout.js';
import type { EventTrace } from '../../heph/write/event-stream.js';
import { EventShapes } from '../../heph/write/event-shapes.js';
import { FLAGS_AFTER_NAME, RESOURCE_SHIFT } from '../layout.js';
import type { Span } from '../span.js';
import { openSpanCompiler } from './span-shapes.js';
import type { OpenSpanWriter, ShapedSpans } from './span-shapes.js';

/** What open spans need of the output of their thread. */
export interface SpanEncoder extends ShapedSpans {
  readonly trace: EventTrace;
  readonly ring: Ring;
  /** Whether every attribute is recorded as it is. */
  readonly takesAnything: boolean;
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

  /** Whether each record fits the ring and a packet. */
  readonly #canCommit: boolean;

  constructor(output: SpanEncoder, table: OpenRecords) {
    this.#output = output;
    this.#table = table;
    const { ring, trace } = output;
    this.#canCommit = table.longest <= Math.min(ring.longestRecord, trace.packetLimit);
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
      length = this.#writeUsual(span, at);
      if (length > 0) span.isInSlot = this.#canCommit && span.start <= this.#output.ring.stamp[0]!;
      else length = this.#writeAny(span, at);
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

  /**
   * Records a span that has ended, of which everything is in its place; which is free then.
   *
   * @throws TracewrightError when the trace is closed.
   */
  commit(span: Span, at: number): void {
    const output = this.#output;
    const { bytes } = this.#table;
    const nameAt = at + DESCRIPTION_OFFSET;
    const nameBytes = (bytes[nameAt]! << 8) | bytes[nameAt + 1]!;
    const flagsAt = DESCRIPTION_OFFSET + 2 + nameBytes + FLAGS_AFTER_NAME;
    const flags = span.flags | (output.resource << RESOURCE_SHIFT);
    if (output.ring.commitOpen(at, flagsAt, flags)) return;
    output.stream.counter[0]!++;
    this.#table.release(at);
  }

  /** The next commit is that of the span. */
  ending(place: number): void {
    this.#table.ending(place);
  }

  /** Code of the program may run before the next commit, and record other spans. */
  notEnding(place: number): void {
    this.#table.notEnding(place);
  }

  /** Frees the place of a span that has ended. */
  end(place: number): void {
    this.#table.release(place);
  }

  #writeUsual(span: Span, at: number): number {
    if (span.extras !== undefined || span.traceState !== '' || !this.#output.takesAnything)
      return 0;
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
