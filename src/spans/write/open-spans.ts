import { compile, mayCompile } from '../../core/ring/compile.js';
import { commitPlaceText } from '../../core/ring/compiled-places.js';
import type { CommitPlace } from '../../core/ring/compiled-places.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import type { Ring } from '../../core/ring/ring.js';
import {
  DESCRIPTION_OFFSET,
  END_OFFSET,
  EVENT_MAGIC,
  MAGIC_OFFSET,
  PACKET_HEAD_BYTES,
  SIZE_OFFSET,
  START_OFFSET,
  SUBSTREAM_OFFSET,
} from '../../heph/layout.js';
import { writeText } from '../../heph/write/encoder.js';
import { packetStores } from '../../heph/write/event-text.js';
import type { EventTrace } from '../../heph/write/event-stream.js';
import type { AttributeScalar } from '../../heph/write/value.js';
import { EventShapes } from '../../heph/write/event-shapes.js';
import {
  FLAGS_AFTER_NAME,
  IDENTITY_BYTES,
  PARENT_ID_AFTER_NAME,
  RESOURCE_SHIFT,
  SPAN_ID_AFTER_NAME,
  TRACE_HIGH_AFTER_NAME,
} from '../layout.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { NOT_KEPT, snapshot } from '../span.js';
import type { Span } from '../span.js';
import { isUsual } from '../../heph/write/taken-attributes.js';
import { readHeld, writeHeld } from './held-attributes.js';
import { LossNote } from './loss-note.js';
import type { EncodedLosses } from './loss-note.js';
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
  encodeLosses(): EncodedLosses;
}

/** Bytes of the length of a text. */
const LENGTH_BYTES = 2;

/** Whether a text has at most `room` bytes. */
function fits(text: string, room: number): boolean {
  return 3 * text.length <= room || (text.length <= room && Buffer.byteLength(text) <= room);
}

function compileCommit(ring: Ring, table: OpenRecords): CommitPlace {
  const { publishEdited, publishOpen, view } = ring;
  const scope = { ...table.constants, ring, view, publishOpen, publishEdited };
  const text = commitPlaceText(ring, PACKET_HEAD_BYTES, packetStores('bytes'));
  return compile('end of a span', scope, `return ${text};`) as CommitPlace;
}

/**
 * The spans of a thread that are open: a record of each in its final bytes, marked as unfinished. What
 * ends the process writes them.
 */
export class OpenSpans {
  readonly #output: SpanEncoder;
  readonly #table: OpenRecords;
  /** What the end of the process says of the thread's losses. */
  readonly losses: LossNote;
  readonly #shapes: EventShapes<OpenSpanWriter> | undefined;
  readonly #commitPlace: CommitPlace | undefined;

  /** Whether each record fits the ring and a packet. */
  readonly #canCommit: boolean;

  constructor(output: SpanEncoder, table: OpenRecords) {
    this.losses = new LossNote(table, () => output.encodeLosses());
    this.#output = output;
    this.#table = table;
    const { ring, trace } = output;
    this.#canCommit = table.longest <= Math.min(ring.longestRecord, trace.packetLimit);
    if (!mayCompile()) return;
    this.#shapes = new EventShapes(output.trace, openSpanCompiler(output, table, this.#canCommit));
    this.#commitPlace = compileCommit(ring, table);
  }

  /**
   * Takes a place for a span that has started; NOT_KEPT: there is none, which is counted.
   *
   * @param given the first attributes if the span has none of its own. It has them afterwards, here or there.
   * @param before the place that kept it until now.
   */
  begin(span: Span, given: SpanAttributes | undefined, before = -1): number {
    const usual = this.#beginUsual(span, given ?? span.own, before);
    if (usual !== -1) return usual;
    if (given !== undefined) span.own ??= snapshot(given);
    const at = this.#table.take();
    if (at === -1) return this.#notKept(before);
    const length = this.#writeAny(span, at);
    if (length > 0) {
      if (before !== -1) this.#table.withdraw(before);
      this.#table.publish(at, length);
      return at;
    }
    this.#table.release(at);
    return this.#notKept(before);
  }

  /** @param before the place that keeps the span as it was; -1: none. */
  #notKept(before = -1): number {
    if (before === -1) this.#countUnkept(1);
    return NOT_KEPT;
  }

  #countUnkept(more: number): void {
    this.#table.countUnkept(more);
    this.losses.add(more, 0);
  }

  #beginUsual(span: Span, attributes: SpanAttributes | undefined, before: number): number {
    if (span.extras !== undefined || !this.#output.takesAnything) return -1;
    try {
      const writer = this.#shapes?.emitterFor(span.name, attributes);
      return writer === undefined ? -1 : writer(span, attributes, before);
    } catch {
      // An attribute that cannot be read.
      return -1;
    }
  }

  /** A span has changed: it gets a place with what it is now, for the one that it has. */
  renew(span: Span): void {
    const before = span.slot;
    span.change();
    const at = this.begin(span, undefined, before);
    if (at === NOT_KEPT) return;
    span.slot = at;
    this.#table.release(before);
  }

  /**
   * As `renew`, of a span that gets a name and one more text, and has its other attributes in its place alone. The
   * record is copied, and nothing is encoded again. False: nothing has changed.
   */
  renewWith(span: Span, name: string, attribute: string, text: string): boolean {
    const { heldBytes, slot } = span;
    const table = this.#table;
    const { longest, view, bytes } = table;
    const names = span.heldNames?.with(attribute);
    if (names === undefined || heldBytes === 0 || span.extras !== undefined) return false;
    const most = heldBytes + 3 * (name.length + text.length) + names.mostBytes;
    if (!this.#output.takesAnything || most > longest || table.taken >= table.places) return false;
    const at = table.take();
    bytes.copyWithin(at, slot, slot + DESCRIPTION_OFFSET);
    const nameEnd = writeText(view, bytes, at + DESCRIPTION_OFFSET, name);
    const from = slot + this.#nameEnd(slot);
    bytes.copyWithin(nameEnd, from, slot + heldBytes);
    const end = writeHeld(view, bytes, nameEnd + slot + heldBytes - from, names, text);
    view.setInt32(at + SIZE_OFFSET, end - at);
    table.withdraw(slot);
    table.publish(at, end - at);
    table.release(slot);
    span.name = name;
    span.slot = at;
    span.heldBytes = end - at;
    span.heldNames = names;
    return true;
  }

  /** As `begin`, of a span that a template describes but for ids, times and its text. */
  beginFrom(span: Span, template: SpanTemplate, text: string): number {
    const table = this.#table;
    const { longest, view, bytes } = table;
    const output = this.#output;
    const record = output.takesAnything ? template.recordFor(output, table) : undefined;
    const { start } = span;
    if (record === undefined || !fits(text, longest - record.length)) {
      span.own = template.attributesOf(text);
      return this.begin(span, undefined);
    }
    const at = table.takeAsItIs();
    if (at === -1) return this.#notKept();
    if (table.becomesOf(at, template.writer)) bytes.set(record, at);
    const startHigh = (start * 2 ** -32) | 0;
    const startLow = start | 0;
    view.setInt32(at + SUBSTREAM_OFFSET, span.t2);
    view.setInt32(at + SUBSTREAM_OFFSET + 4, span.t3);
    view.setInt32(at + START_OFFSET, startHigh);
    view.setInt32(at + START_OFFSET + 4, startLow);
    view.setInt32(at + END_OFFSET, startHigh);
    view.setInt32(at + END_OFFSET + 4, startLow);
    const ids = at + template.idsAt;
    view.setInt32(ids + TRACE_HIGH_AFTER_NAME, span.t0);
    view.setInt32(ids + TRACE_HIGH_AFTER_NAME + 4, span.t1);
    view.setInt32(ids + SPAN_ID_AFTER_NAME, span.s0);
    view.setInt32(ids + SPAN_ID_AFTER_NAME + 4, span.s1);
    view.setInt32(ids + PARENT_ID_AFTER_NAME, span.p0);
    view.setInt32(ids + PARENT_ID_AFTER_NAME + 4, span.p1);
    view.setInt32(ids + FLAGS_AFTER_NAME, span.flags | template.flags);
    const end = writeText(view, bytes, at + record.length - LENGTH_BYTES, text);
    view.setInt32(at + SIZE_OFFSET, end - at);
    if (this.#canCommit) {
      span.heldBytes = end - at;
      span.heldNames = template.heldNames;
    }
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
    const { heldNames } = span;
    if (!this.isAsBegun(span) && (heldNames === undefined || !ending.isNew(heldNames.names))) {
      return false;
    }
    return writer !== undefined && writer(span, span.slot, number, text, isNamed);
  }

  /**
   * Records a span that has ended, of which everything is in its place; which is free then.
   *
   * @throws TracewrightError when the trace is closed.
   */
  commit(span: Span, at: number): void {
    const output = this.#output;
    const table = this.#table;
    const flagsAt = this.#nameEnd(at) + FLAGS_AFTER_NAME;
    const flags = span.flags | (output.resource << RESOURCE_SHIFT);
    const { heldBytes } = span;
    if (this.#commitPlace?.(at, heldBytes, flagsAt, flags) === true) return;
    if (heldBytes === table.lengthOf(at)) {
      if (output.ring.commitOpen(at, flagsAt, flags)) return;
    } else if (this.#commitLonger(at, heldBytes, flagsAt, flags)) {
      return;
    }
    output.stream.counter[0]!++;
    table.release(at);
  }

  /** Records the open record at `at` with what was added after it; false: there is no room. */
  #commitLonger(at: number, bytes: number, flagsAt: number, flags: number): boolean {
    const { ring } = this.#output;
    if (ring.free < bytes && !ring.makeRoom(bytes)) return false;
    const start = ring.position;
    ring.view.setInt32(start + MAGIC_OFFSET, EVENT_MAGIC);
    ring.view.setInt32(start + SIZE_OFFSET, bytes);
    this.#table.keep(PACKET_HEAD_BYTES, bytes, 0, 0, 0);
    ring.commitEdited(at, bytes, flagsAt, flags);
    return true;
  }

  /** Where the name of the record at `at` ends, from the start of the record. */
  #nameEnd(at: number): number {
    const { bytes } = this.#table;
    const nameAt = at + DESCRIPTION_OFFSET;
    return DESCRIPTION_OFFSET + LENGTH_BYTES + ((bytes[nameAt]! << 8) | bytes[nameAt + 1]!);
  }

  /**
   * Adds an attribute to a span whose place has all others. It lies after the record, which stays as it was, and
   * counts if the span never ends.
   */
  hold(span: Span, name: string, value: SpanValue): boolean {
    const isText = typeof value === 'string';
    if (!isText && typeof value !== 'number' && !isUsual(value)) return false;
    const names = span.heldNames!.with(name);
    if (names === undefined || !this.#output.takesAnything) return false;
    const { view, bytes, longest } = this.#table;
    const { heldBytes, slot } = span;
    const most = heldBytes + names.mostBytes + (isText ? 3 * value.length : 0);
    if (most > longest || !this.#output.ring.takesEdited) return false;
    const end = writeHeld(view, bytes, slot + heldBytes, names, value as AttributeScalar);
    span.heldBytes = end - slot;
    span.heldNames = names;
    return true;
  }

  /** The attributes that only the place of a span has. */
  heldAttributes({ heldBytes, slot }: Span): Record<string, SpanValue> {
    const { view, bytes } = this.#table;
    return readHeld(view, bytes, this.#attributesAt(slot), slot + heldBytes);
  }

  /** The same, encoded. */
  heldBytes({ heldBytes, slot }: Span): Uint8Array {
    return this.#table.bytes.subarray(this.#attributesAt(slot), slot + heldBytes);
  }

  /** Where the attributes of the record at `at` begin. */
  #attributesAt(at: number): number {
    return at + this.#nameEnd(at) + IDENTITY_BYTES;
  }

  /** Whether the place has what was there at the start of the span, and nothing else. */
  isAsBegun({ heldBytes, slot }: Span): boolean {
    return heldBytes === this.#table.lengthOf(slot);
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
    if (place === NOT_KEPT) this.#countUnkept(-1);
    else this.#table.release(place);
  }

  #writeAny(span: Span, at: number): number {
    try {
      const bytes = this.#output.encodeOpen(span, this.#table.longest);
      if (bytes === undefined) return 0;
      this.#table.bytes.set(bytes, at);
      return bytes.length;
    } catch {
      // Spans break no program.
      return 0;
    }
  }
}
