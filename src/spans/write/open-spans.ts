import { BoundedCache } from '../../core/bounded-cache.js';
import { mayCompile } from '../../core/ring/compile.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import type { Ring } from '../../core/ring/ring.js';
import { attributesAt, nameAt } from '../../heph/layout.js';
import { writeText } from '../../heph/write/encoder.js';
import { EventShapes } from '../../heph/write/event-shapes.js';
import type { EventTrace } from '../../heph/write/event-stream.js';
import { isUsual } from '../../heph/write/taken-attributes.js';
import type { AttributeScalar } from '../../heph/write/value.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { IDENTITY_BYTES } from '../layout.js';
import type { Policy } from '../policy.js';
import {
  attributeName,
  mostBytes,
  SlotAttributes,
  writeAttribute,
} from '../slot/slot-attributes.js';
import { NOT_KEPT, snapshot } from '../span.js';
import type { Span } from '../span.js';
import { OTHER_NAMES } from './checked-names.js';
import { LossNote } from './loss-note.js';
import type { EncodedLosses } from './loss-note.js';
import { compileEnd, compileTemplates, openSpanCompiler } from './span-shapes.js';
import type { OpenSpanWriter, SlotEnd, TemplateWriter } from './span-shapes.js';
import type { SpanTemplate, TemplateOutput } from './span-template.js';

/** Names that spans get later, and how long they may be. */
const RENAMED = 256;
const MAX_RENAMED = 256;

/** What open spans need of the output of their thread. */
export interface SpanEncoder extends TemplateOutput {
  readonly trace: EventTrace;
  readonly ring: Ring;
  /** Whether every attribute is recorded as it is. */
  readonly takesAnything: boolean;
  readonly policy: Policy;
  /** Nanoseconds since the trace's epoch: now. */
  timeOf(time: undefined): number;
  encodeLosses(): EncodedLosses;
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
  readonly #attributes: SlotAttributes;
  /** What those count as that get a name later: as if each name had a writer. */
  readonly #renamed: BoundedCache<number>;
  readonly #shapes: EventShapes<OpenSpanWriter> | undefined;
  readonly #fromTemplate: TemplateWriter | undefined;
  readonly #endSlot: SlotEnd | undefined;

  constructor(output: SpanEncoder, table: OpenRecords) {
    this.losses = new LossNote(table, () => output.encodeLosses());
    this.#output = output;
    this.#table = table;
    this.#attributes = new SlotAttributes(table.view, table.bytes);
    this.#renamed = new BoundedCache(RENAMED, MAX_RENAMED, () => table.newWriter());
    if (!mayCompile()) return;
    const { ring, trace } = output;
    // Whether each record fits the ring and a packet.
    const canEnd = table.longest <= Math.min(ring.longestRecord, trace.packetLimit);
    this.#shapes = new EventShapes(output.trace, openSpanCompiler(output, table, canEnd));
    this.#fromTemplate = compileTemplates(output, table, canEnd);
    if (canEnd) this.#endSlot = compileEnd(output, table);
  }

  /**
   * Takes a slot for a span that has started; NOT_KEPT: there is none, which is counted.
   *
   * @param given the first attributes if the span has none of its own. It has them afterwards, here or there.
   */
  begin(span: Span, given: SpanAttributes | undefined): number {
    const usual = this.#beginUsual(span, given ?? span.own);
    if (usual !== -1) return usual;
    if (given !== undefined) span.own ??= snapshot(given);
    const at = this.#table.take();
    const length = at === -1 ? 0 : this.#encode(span, at);
    if (length > 0) {
      this.#table.publish(at, length);
      return at;
    }
    if (at !== -1) this.#table.release(at);
    this.#countUnkept(1);
    return NOT_KEPT;
  }

  #countUnkept(more: number): void {
    this.#table.countUnkept(more);
    this.losses.add(more, 0);
  }

  #beginUsual(span: Span, attributes: SpanAttributes | undefined): number {
    if (span.extras !== undefined || this.#output.takesAnything !== true) return -1;
    const shapes = this.#shapes;
    if (shapes === undefined) return -1;
    try {
      const last = shapes.lastOf(span.name);
      if (last !== undefined) {
        const at = last(span, attributes);
        if (at !== OTHER_NAMES) return at;
      }
      return this.#beginByShape(shapes, span, attributes);
    } catch {
      // An attribute that cannot be read.
      return -1;
    }
  }

  #beginByShape(
    shapes: EventShapes<OpenSpanWriter>,
    span: Span,
    attributes: SpanAttributes | undefined,
  ): number {
    const described = shapes.describedAs(span.name);
    if (described === undefined) return -1;
    for (const shape of described.shapes) {
      if (shape.emitter === undefined) continue;
      const at = shape.emitter(span, attributes);
      if (at === OTHER_NAMES) continue;
      shapes.used(shape);
      return at;
    }
    const writer = shapes.emitterOfOther(described, attributes);
    const at = writer === undefined ? -1 : writer(span, attributes);
    return at === OTHER_NAMES ? -1 : at;
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
      const at = this.#fromTemplate(span, template, text);
      if (at !== -1) return at;
    }
    span.start = output.timeOf(undefined);
    if (template.scopeNumber === 0) span.extra().scope = template.scope;
    span.own = template.attributesOf(text);
    return this.begin(span, undefined);
  }

  /**
   * Adds an attribute to a span of which the slot has everything; false: that cannot be. It counts from here on, whatever
   * ends the process.
   */
  append(span: Span, name: string, value: SpanValue): boolean {
    const isScalar = typeof value === 'string' || typeof value === 'number' || isUsual(value);
    const { slot, count } = span;
    const table = this.#table;
    const { policy, takesAnything } = this.#output;
    if (!isScalar || takesAnything !== true || !table.isOpen) return false;
    const own = attributeName(name);
    const length = table.lengthOf(slot);
    if (count >= policy.limits.attributes || length + mostBytes(own, value) > table.longest)
      return false;
    const from = slot + length;
    const end = writeAttribute(table.view, table.bytes, from, own, value as AttributeScalar);
    table.grow(slot, end - slot);
    span.count = count + 1;
    return true;
  }

  /** Gives another name to a span of which the slot has everything; false: that cannot be. */
  rename(span: Span, name: string): boolean {
    const { slot } = span;
    const table = this.#table;
    const { bytes, longest, view } = table;
    const length = table.lengthOf(slot);
    if (!this.#output.takesAnything || length + 3 * name.length > longest) return false;
    const at = table.take();
    if (at === -1) return false;
    bytes.copyWithin(at, slot, nameAt(slot));
    const nameEnd = writeText(view, bytes, nameAt(at), name);
    const rest = attributesAt(view, slot);
    bytes.copyWithin(nameEnd, rest, slot + length);
    span.name = name;
    table.noteWriter(at, this.#renamed.of(name));
    this.#replace(span, at, nameEnd + slot + length - rest - at);
    return true;
  }

  /** A span has changed in any way: it gets a slot with what it is now, for the one that it has. */
  rebuild(span: Span): void {
    const table = this.#table;
    // Without another slot, what a kill leaves is what it was.
    const at = table.isOpen && span.slot >= 0 ? table.take() : -1;
    if (at === -1) return;
    const length = this.#encode(span, at);
    if (length === 0) table.release(at);
    else this.#replace(span, at, length);
  }

  #replace(span: Span, at: number, length: number): void {
    const table = this.#table;
    const { slot } = span;
    table.withdraw(slot);
    table.publish(at, length);
    table.release(slot);
    span.slot = at;
  }

  /**
   * Records a span that has ended, of which everything is in its slot; which is free then.
   *
   * @throws TracewrightError when the trace is closed.
   */
  commit(span: Span): void {
    const { slot } = span;
    if (this.#endSlot!(span, slot)) return;
    // Dropped, and counted. The numbers show it too.
    this.#output.stream.counter[0]!++;
    this.#table.release(slot);
  }

  /** The attributes of a span of which the slot has everything. */
  attributesOf({ slot }: Span): Record<string, SpanValue> {
    return this.#attributes.read(this.#attributesAt(slot), slot + this.#table.lengthOf(slot));
  }

  /** One of them that is a text; empty: it is none, or absent. */
  textOf({ slot }: Span, name: string): string {
    const end = slot + this.#table.lengthOf(slot);
    return this.#attributes.textOf(name, this.#attributesAt(slot), end);
  }

  /** All of them, encoded. */
  encodedOf({ slot }: Span): Uint8Array {
    const { bytes } = this.#table;
    return bytes.subarray(this.#attributesAt(slot), slot + this.#table.lengthOf(slot));
  }

  /** Where the attributes of the record at `at` begin. */
  #attributesAt(at: number): number {
    return attributesAt(this.#table.view, at) + IDENTITY_BYTES;
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

  /** Writes what a span is now to a slot; returns the bytes, 0: that cannot be. */
  #encode(span: Span, at: number): number {
    const output = this.#output;
    try {
      const record = output.encodeOpen(span, this.#table.longest);
      if (record === undefined) return 0;
      this.#table.bytes.set(record.bytes, at);
      const { start } = span;
      const isPast = start >= 0 && start <= output.ring.stamp[0]!;
      span.isWhole = record.isWhole && isPast && this.#endSlot !== undefined;
      return record.bytes.length;
    } catch {
      // Spans break no program.
      return 0;
    }
  }
}
