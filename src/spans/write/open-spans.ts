import { compile, mayCompile } from '../../core/ring/compile.js';
import { commitSlot, slotLength } from '../../core/ring/compiled-slots.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import type { Ring } from '../../core/ring/ring.js';
import { attributesAt, DESCRIPTION_OFFSET, nameAt } from '../../heph/layout.js';
import { writeText } from '../../heph/write/encoder.js';
import { isUsual } from '../../heph/write/taken-attributes.js';
import type { AttributeScalar } from '../../heph/write/value.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { FLAGS_AFTER_NAME, IDENTITY_BYTES, OWN_FLAGS, RESOURCE_SHIFT } from '../layout.js';
import type { Policy } from '../policy.js';
import { Scope } from '../scope.js';
import { prefixOf } from '../slot/prefix.js';
import type { Prefix, PrefixOutput } from '../slot/prefix.js';
import {
  attributeName,
  mostBytes,
  SlotAttributes,
  writeAttribute,
} from '../slot/slot-attributes.js';
import { OTHER_NAMES, StartWriters } from '../slot/start-writers.js';
import type { SlotOutput } from '../slot/prefix.js';
import { NOT_KEPT } from '../span.js';
import type { Span } from '../span.js';
import { LossNote } from './loss-note.js';
import type { EncodedLosses } from './loss-note.js';

/** Of the prefixes by which spans are counted that get a name later. */
const RENAMED = new Scope('renamed');
/** Writers of a prefix that are tried one after the other. */
const MOST_WRITERS = 4;

/** The part of a thread's output that open spans use. */
export interface SpanEncoder extends PrefixOutput {
  readonly ring: Ring;
  /** Whether every attribute is recorded as it is. */
  readonly takesAnything: boolean;
  readonly policy: Policy;
  encodeLosses(): EncodedLosses;
}

/** Records a span of which everything is in its slot at `at`, and frees the slot; false: the ring has no room. */
type SlotEnd = (span: Span, at: number) => boolean;

/** Compiles what ends the spans of a thread of which everything is in their slots. */
function compileEnd(output: SlotOutput, table: OpenRecords): SlotEnd {
  const { ring } = output.stream;
  const { pending, publishOpen } = ring;
  const scope = { ...table.constants, output, pending, publishOpen, ring, slotView: table.view };
  // V8's middle compiler makes a call of each unsigned number that is read.
  const nameBytes = `(slotView.getInt16(at + ${DESCRIPTION_OFFSET}) & 0xffff)`;
  const wordAt = `${DESCRIPTION_OFFSET + 2 + FLAGS_AFTER_NAME} + ${nameBytes}`;
  const word = `(span.flags & ${OWN_FLAGS}) | (output.resource << ${RESOURCE_SHIFT})`;
  const body = `return function endSlot(span, at) {
  const length = ${slotLength('at')};
  if (ring.free < length && !ring.makeRoom(length)) return false;
  ${commitSlot(ring, 'at', 'length', wordAt, word)}
  return true;
};`;
  return compile('end of a span', scope, body) as SlotEnd;
}

/**
 * The spans of a thread that are open: a record of each in its final bytes, marked as unfinished. What
 * ends the process writes them.
 */
export class OpenSpans {
  readonly #output: SpanEncoder;
  readonly #table: OpenRecords;
  /** The thread's losses, for the end of the process. */
  readonly losses: LossNote;
  readonly #attributes: SlotAttributes;
  readonly #writers: StartWriters | undefined;
  readonly #endSlot: SlotEnd | undefined;

  constructor(output: SpanEncoder, table: OpenRecords) {
    this.losses = new LossNote(table, () => output.encodeLosses());
    this.#output = output;
    this.#table = table;
    this.#attributes = new SlotAttributes(table.view, table.bytes);
    if (!mayCompile()) return;
    const { ring, trace } = output.stream;
    // Whether each record fits the ring and a packet.
    const canEnd = table.longest <= Math.min(ring.longestRecord, trace.packetLimit);
    this.#writers = new StartWriters(output, table, canEnd);
    if (canEnd) this.#endSlot = compileEnd(output, table);
  }

  /**
   * Starts a span now in a slot, if that takes no encoding: the policy must be to record every attribute as it is.
   *
   * @returns whether it has. Otherwise the span may have got the given attributes as its own.
   */
  start(span: Span, prefix: Prefix, given: SpanAttributes | undefined, text: string): boolean {
    const output = this.#output;
    if (prefix.output !== output) prefix.encode(output, this.#table);
    const { writer } = prefix;
    let at = OTHER_NAMES;
    try {
      if (writer !== undefined) at = writer(span, prefix, given, text);
      if (at === OTHER_NAMES) at = this.#startByNames(span, prefix, given, text);
    } catch {
      // An attribute that cannot be read.
      return false;
    }
    if (at === -1) return false;
    span.scope = prefix.scopeWord;
    span.slot = at;
    return true;
  }

  /** The same if the last span with the prefix had other attributes. */
  #startByNames(
    span: Span,
    prefix: Prefix,
    given: SpanAttributes | undefined,
    text: string,
  ): number {
    if (prefix.bytes === 0) return -1;
    for (const writer of prefix.writers) {
      const at = writer(span, prefix, given, text);
      if (at === OTHER_NAMES) continue;
      prefix.writer = writer;
      return at;
    }
    const writer = this.#writers?.of(given);
    if (writer === undefined) return -1;
    prefix.writer = writer;
    prefix.writers = [writer, ...prefix.writers.slice(0, MOST_WRITERS - 1)];
    const at = writer(span, prefix, given, text);
    // A proxy may say other names each time.
    return at === OTHER_NAMES ? -1 : at;
  }

  /** Encodes a span that has started to a slot that it takes. Without one it is counted. */
  keep(span: Span): void {
    const at = this.#table.take();
    const length = at === -1 ? 0 : this.#encode(span, at);
    if (length > 0) {
      this.#table.publish(at, length);
      span.slot = at;
      return;
    }
    if (at !== -1) this.#table.release(at);
    this.#countUnkept(1);
    span.slot = NOT_KEPT;
  }

  #countUnkept(more: number): void {
    this.#table.countUnkept(more);
    this.losses.add(more, 0);
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
    table.noteWriter(at, this.#numberOf(name));
    this.#replace(span, at, nameEnd + slot + length - rest - at);
    return true;
  }

  /** The number by which spans count that get this name later. */
  #numberOf(name: string): number {
    const prefix = prefixOf(name, RENAMED, 0);
    if (prefix.output !== this.#output) prefix.enter(this.#output, this.#table);
    return prefix.number;
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
