import { mayCompile } from '../../core/ring/compile.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import type { Ring } from '../../core/ring/ring.js';
import {
  DESCRIPTION_OFFSET,
  END_OFFSET,
  SIZE_OFFSET,
  START_OFFSET,
  SUBSTREAM_OFFSET,
} from '../../heph/layout.js';
import { writeText } from '../../heph/write/encoder.js';
import type { EventTrace } from '../../heph/write/event-stream.js';
import { EventShapes } from '../../heph/write/event-shapes.js';
import {
  FLAGS_AFTER_NAME,
  PARENT_ID_AFTER_NAME,
  RESOURCE_SHIFT,
  SPAN_ID_AFTER_NAME,
  TRACE_HIGH_AFTER_NAME,
} from '../layout.js';
import type { Span } from '../span.js';
import { openSpanCompiler } from './span-shapes.js';
import type { SpanEnding } from './span-ending.js';
import type { OpenSpanWriter } from './span-shapes.js';
import type { SpanTemplate, TemplateOutput } from './span-template.js';

/** What open spans need of the output of their thread. */
export interface SpanEncoder extends TemplateOutput {
  readonly trace: EventTrace;
  readonly ring: Ring;
  /** Whether every attribute is recorded as it is. */
  readonly takesAnything: boolean;
}

/** Bytes of the length of a text. */
const LENGTH_BYTES = 2;

/** Whether a text has at most `room` bytes. */
function fits(text: string, room: number): boolean {
  return 3 * text.length <= room || (text.length <= room && Buffer.byteLength(text) <= room);
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

  /**
   * Takes a place for a span that has started; -1: there is none, which is counted.
   *
   * @param before the place that kept it until now.
   */
  begin(span: Span, before = -1): number {
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
      if (before !== -1) this.#table.withdraw(before);
      this.#table.publish(at, length);
      return at;
    }
    this.#table.release(at);
    this.#table.countUnkept();
    return -1;
  }

  /** A span has changed: it gets a place with what it is now, for the one that it has. */
  renew(span: Span): void {
    const before = span.slot;
    span.isInSlot = false;
    const at = this.begin(span, before);
    if (at === -1) return;
    span.slot = at;
    this.#table.release(before);
  }

  /** As `begin`, of a span that a template describes but for ids, times and its text. */
  beginFrom(span: Span, template: SpanTemplate, text: string): number {
    const table = this.#table;
    const { longest, view, bytes } = table;
    const output = this.#output;
    const record = output.takesAnything ? template.recordFor(output, longest) : undefined;
    const { start, traceState } = span;
    if (record === undefined || !fits(text, longest - record.length) || traceState !== '') {
      return this.begin(span);
    }
    const at = table.take();
    if (at === -1) return -1;
    bytes.set(record, at);
    const startHigh = start * 2 ** -32;
    view.setInt32(at + SUBSTREAM_OFFSET, span.t2);
    view.setInt32(at + SUBSTREAM_OFFSET + 4, span.t3);
    view.setUint32(at + START_OFFSET, startHigh);
    view.setUint32(at + START_OFFSET + 4, start);
    view.setUint32(at + END_OFFSET, startHigh);
    view.setUint32(at + END_OFFSET + 4, start);
    const ids = at + template.idsAt;
    view.setInt32(ids + TRACE_HIGH_AFTER_NAME, span.t0);
    view.setInt32(ids + TRACE_HIGH_AFTER_NAME + 4, span.t1);
    view.setInt32(ids + SPAN_ID_AFTER_NAME, span.s0);
    view.setInt32(ids + SPAN_ID_AFTER_NAME + 4, span.s1);
    view.setInt32(ids + PARENT_ID_AFTER_NAME, span.p0);
    view.setInt32(ids + PARENT_ID_AFTER_NAME + 4, span.p1);
    view.setInt32(ids + FLAGS_AFTER_NAME, span.flags | template.flags);
    const end = writeText(view, bytes, at + record.length - LENGTH_BYTES, text);
    view.setUint32(at + SIZE_OFFSET, end - at);
    span.isInSlot = this.#canCommit;
    table.publish(at, end - at);
    return at;
  }

  /**
   * Records a span that has ended, of which the place has everything but what `ending` adds; the place is free
   * then. False: it has to be recorded otherwise.
   *
   * @throws TracewrightError when the trace is closed.
   */
  commitWith(
    span: Span,
    ending: SpanEnding,
    number: number,
    text: string,
    isNamed: boolean,
  ): boolean {
    const writer = ending.writerFor(this.#output, this.#table);
    return writer !== undefined && writer(span, span.slot, number, text, isNamed);
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
