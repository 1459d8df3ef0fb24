import { mayCompile } from '../../core/ring/compile.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import type { Ring } from '../../core/ring/ring.js';
import { attributesAt, nameAt, SIZE_OFFSET } from '../../heph/layout.js';
import { writeText } from '../../heph/write/encoder.js';
import { EventShapes } from '../../heph/write/event-shapes.js';
import type { EventTrace } from '../../heph/write/event-stream.js';
import { isUsual } from '../../heph/write/taken-attributes.js';
import type { AttributeScalar } from '../../heph/write/value.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { IDENTITY_BYTES } from '../layout.js';
import { NOT_KEPT, snapshot } from '../span.js';
import type { Span } from '../span.js';
import { OTHER_NAMES } from './checked-names.js';
import { readHeld, writeHeld } from './held-attributes.js';
import type { HeldNames } from './held-attributes.js';
import { LossNote } from './loss-note.js';
import type { EncodedLosses } from './loss-note.js';
import { compileCommit } from './span-ending.js';
import type { SlotCommit, SpanEnding } from './span-ending.js';
import { compileTemplates, openSpanCompiler } from './span-shapes.js';
import type { OpenSpanWriter, TemplateWriter } from './span-shapes.js';
import type { SpanTemplate, TemplateOutput } from './span-template.js';

/** What open spans need of the output of their thread. */
export interface SpanEncoder extends TemplateOutput {
  readonly trace: EventTrace;
  readonly ring: Ring;
  /** Whether every attribute is recorded as it is. */
  readonly takesAnything: boolean;
  /** Nanoseconds since the trace's epoch: now. */
  timeOf(time: undefined): number;
  encodeLosses(): EncodedLosses;
}

/** Whether none of the names is that of the ending's number, or of its text if there is one. */
function isNewTo(held: HeldNames, ending: SpanEnding, text: string): boolean {
  if (held.newTo !== ending) {
    const { names } = held;
    if (names.includes(ending.numberName)) return false;
    held.newTo = ending;
    held.hasNoText = !names.includes(ending.textName);
  }
  return text === '' || held.hasNoText;
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
  readonly #fromTemplate: TemplateWriter | undefined;
  readonly #commitSlot: SlotCommit | undefined;
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
    this.#fromTemplate = compileTemplates(output, table, this.#canCommit);
    this.#commitSlot = compileCommit(output, table);
  }

  /**
   * Takes a slot for a span that has started; NOT_KEPT: there is none, which is counted.
   *
   * @param given the first attributes if the span has none of its own. It has them afterwards, here or there.
   * @param before the slot that kept it until now.
   */
  begin(span: Span, given: SpanAttributes | undefined, before = -1): number {
    return this.#begin(span, given, before);
  }

  #begin(span: Span, given: SpanAttributes | undefined, before: number): number {
    const usual = this.#beginUsual(span, given ?? span.own, before);
    return usual === -1 ? this.#beginOther(span, given, before) : usual;
  }

  #beginOther(span: Span, given: SpanAttributes | undefined, before: number): number {
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

  /** @param before the slot that keeps the span as it was; -1: none. */
  #notKept(before: number): number {
    if (before === -1) this.#countUnkept(1);
    return NOT_KEPT;
  }

  #countUnkept(more: number): void {
    this.#table.countUnkept(more);
    this.losses.add(more, 0);
  }

  #beginUsual(span: Span, attributes: SpanAttributes | undefined, before: number): number {
    if (span.extras !== undefined || this.#output.takesAnything !== true) return -1;
    const shapes = this.#shapes;
    if (shapes === undefined) return -1;
    try {
      const last = shapes.lastOf(span.name);
      if (last !== undefined) {
        const at = last(span, attributes, before);
        if (at !== OTHER_NAMES) return at;
      }
      return this.#beginByShape(shapes, span, attributes, before);
    } catch {
      // An attribute that cannot be read.
      return -1;
    }
  }

  #beginByShape(
    shapes: EventShapes<OpenSpanWriter>,
    span: Span,
    attributes: SpanAttributes | undefined,
    before: number,
  ): number {
    const described = shapes.describedAs(span.name);
    if (described === undefined) return -1;
    for (const shape of described.shapes) {
      if (shape.emitter === undefined) continue;
      const at = shape.emitter(span, attributes, before);
      if (at === OTHER_NAMES) continue;
      shapes.used(shape);
      return at;
    }
    const writer = shapes.emitterOfOther(described, attributes);
    const at = writer === undefined ? -1 : writer(span, attributes, before);
    return at === OTHER_NAMES ? -1 : at;
  }

  /** A span has changed: it gets a slot with what it is now, for the one that it has. */
  renew(span: Span): void {
    const before = span.slot;
    span.change();
    const at = this.begin(span, undefined, before);
    if (at === NOT_KEPT) return;
    span.slot = at;
    this.#table.release(before);
  }

  /**
   * As `renew`, of a span that gets a name and one more text, and has its other attributes in its slot alone. The
   * record is copied, and nothing is encoded again. False: nothing has changed.
   */
  renewWith(span: Span, name: string, attribute: string, text: string): boolean {
    const { heldBytes, slot } = span;
    const table = this.#table;
    const { longest, view, bytes } = table;
    const names = span.heldNames?.with(attribute);
    if (names === undefined || heldBytes === 0 || span.extras !== undefined) return false;
    const most = heldBytes + 3 * (name.length + text.length) + names.mostBytes;
    if (!this.#output.takesAnything || most > longest || table.taken >= table.slots) return false;
    const at = table.take();
    bytes.copyWithin(at, slot, nameAt(slot));
    const nameEnd = writeText(view, bytes, nameAt(at), name);
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

  /** As `renew`, of a span that a template describes from now on. False: nothing has changed. */
  renewFrom(span: Span, template: SpanTemplate, text: string): boolean {
    const output = this.#output;
    const { heldBytes, slot } = span;
    if (heldBytes === 0 || slot < 0 || span.extras !== undefined) return false;
    if (template.output !== output) template.encode(output, this.#table);
    if (output.takesAnything !== true || this.#fromTemplate === undefined) return false;
    const at = this.#fromTemplate(span, template, text, slot);
    if (at === -1) return false;
    span.slot = at;
    span.name = template.name;
    this.#table.release(slot);
    return true;
  }

  /** What `begin` does before anybody sees the ids of a span. */
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- for those that keep traces
  beforeStart(_span: Span): void {
    // Only who keeps traces has something to do.
  }

  /** As `begin`, of a span that starts now, and that a template describes but for ids and the text, if it has one. */
  beginFrom(span: Span, template: SpanTemplate, text: string): number {
    const output = this.#output;
    if (template.output !== output) template.encode(output, this.#table);
    span.scope = template.scopeWord;
    if (output.takesAnything === true && this.#fromTemplate !== undefined) {
      const at = this.#fromTemplate(span, template, text, -1);
      if (at !== -1) return at;
    }
    span.start = output.timeOf(undefined);
    if (template.scopeNumber === 0) span.extra().scope = template.scope;
    span.own = template.attributesOf(text);
    return this.#begin(span, undefined, -1);
  }

  /**
   * Records a span that has ended, of which the slot has everything but what `ending` adds; the slot is free
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
    if (ending.output !== this.#output) ending.compile(this.#output, this.#table);
    const { writer } = ending;
    const { heldNames, slot } = span;
    const isNew = heldNames === undefined || isNewTo(heldNames, ending, text);
    return isNew && writer !== undefined && writer(span, slot, number, text, isNamed);
  }

  /**
   * Records a span that has ended, of which everything is in its slot; which is free then.
   *
   * @throws TracewrightError when the trace is closed.
   */
  commit(span: Span): void {
    const { ring, stream } = this.#output;
    const { heldBytes, slot } = span;
    if (ring.free >= heldBytes || ring.makeRoom(heldBytes)) {
      this.#commitSlot!(span, slot);
      return;
    }
    stream.counter[0]!++;
    this.#table.release(slot);
  }

  /** Where the name of the record at `at` ends, from the start of the record. */
  #nameEnd(at: number): number {
    return attributesAt(this.#table.view, at) - at;
  }

  /**
   * Adds an attribute to a span whose slot has all others. It lies after the record, which stays as it was, and
   * counts if the span never ends.
   */
  hold(span: Span, name: string, value: SpanValue): boolean {
    const isText = typeof value === 'string';
    if (!isText && typeof value !== 'number' && !isUsual(value)) return false;
    const names = span.heldNames!.with(name);
    if (names === undefined || this.#output.takesAnything !== true) return false;
    const { view, bytes, longest } = this.#table;
    const { heldBytes, slot } = span;
    const most = heldBytes + names.mostBytes + (isText ? 3 * value.length : 0);
    if (most > longest || this.#output.ring.takesEdited !== true) return false;
    const end = writeHeld(view, bytes, slot + heldBytes, names, value as AttributeScalar);
    span.heldBytes = end - slot;
    span.heldNames = names;
    return true;
  }

  /** The attributes that only the slot of a span has. */
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

  /** Whether the slot has what was there at the start of the span, and nothing else. */
  isAsBegun({ heldBytes, slot }: Span): boolean {
    return heldBytes === this.#table.lengthOf(slot);
  }

  /** The next commit is that of the span. */
  ending(slot: number): void {
    this.#table.ending(slot);
  }

  /** Code of the program may run before the next commit, and record other spans. */
  notEnding(slot: number): void {
    this.#table.notEnding(slot);
  }

  /** Frees the slot of a span that has ended. */
  end(slot: number): void {
    if (slot === NOT_KEPT) this.#countUnkept(-1);
    else this.#table.release(slot);
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
