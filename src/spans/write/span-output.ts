import { DEFAULT_MAX_PACKET_BYTES } from '../../heph/layout.js';
import { MAX_NAMES } from '../../heph/write/event-shapes.js';
import type { Stream } from '../../heph/write/stream.js';
import {
  RESOURCE_DESCRIPTION,
  SCHEMA_URL,
  SCOPE_DESCRIPTION,
  SCOPE_NAME,
  SCOPE_VERSION,
  UNFINISHED,
} from '../layout.js';
import type { SpanAttributes, SpanValue } from '../attributes.js';
import { observer } from '../observer.js';
import type { Policy } from '../policy.js';
import type { Resource } from '../resource.js';
import type { Sampler } from '../sampling.js';
import { NO_SCOPE } from '../scope.js';
import type { Scope } from '../scope.js';
import type { OpenRecord, Prefix } from '../slot/prefix.js';
import type { Span, SpanTaker } from '../span.js';
import type { Instant, TraceTime } from '../time.js';
import { TOO_LONG } from './event-writer.js';
import { hide, NoteOutput } from './note-output.js';
import { OpenSpans } from './open-spans.js';
import type { SpanEncoder } from './open-spans.js';
import { encodeSpan, PORTIONS } from './span-encoder.js';

/** A context can outlive its span for as long as a connection or a timer: nothing of the program hangs off it then. */
export function letGo(span: Span): void {
  span.own = undefined;
  span.extras = undefined;
}

/** Where the spans of a thread go: a stream of a Heph trace. */
export class SpanOutput extends NoteOutput implements SpanTaker, SpanEncoder {
  /** The number of the resource; 0: it could not be defined. */
  resource = 0;
  /** The resource itself. */
  declare describedResource: Resource;
  /** Whether every attribute is recorded as it is. */
  takesAnything = false;
  /** That of the policy. */
  declare sampler: Sampler;
  #policy: Policy;
  /** Whether the record that was encoded last lacks nothing. */
  #isComplete = false;

  constructor(stream: Stream, policy: Policy, resource: Resource, direct = stream) {
    super(stream, direct);
    this.#policy = policy;
    this.policy = policy;
    const table = this.ring.openRecords;
    hide(this, 'open', table === undefined ? undefined : new OpenSpans(this, table));
    this.setResource(resource);
  }

  /** The trace ends for this thread. */
  finish(): void {
    // Everything is in the ring already.
  }

  /**
   * Starts a span, and takes a slot for it. No other function sets a start.
   *
   * @param given attributes of the caller's, as they are now; undefined: none, or the span has its own.
   * @param text with which the prefix ends; empty: with none.
   * @param time when it starts; undefined: now.
   */
  start(
    span: Span,
    prefix: Prefix,
    given: SpanAttributes | undefined,
    text: string,
    time: TraceTime | undefined,
  ): void {
    const { open } = this;
    const isUsual = time === undefined && span.extras === undefined;
    const isStarted =
      isUsual &&
      this.takesAnything === true &&
      open !== undefined &&
      open.start(span, prefix, given, text);
    if (!isStarted) this.#startAny(span, prefix, given, text, time);
  }

  /** As `start`, of a span of any content. */
  #startAny(
    span: Span,
    prefix: Prefix,
    given: SpanAttributes | undefined,
    text: string,
    time: TraceTime | undefined,
  ): void {
    span.startAt(time ?? this.timeOf(undefined));
    const { scope } = prefix;
    const number = this.scopeNumber(scope);
    span.scope = number | this.openMark;
    if (number === 0 && scope !== NO_SCOPE) span.extra().scope = scope;
    span.own ??= prefix.attributesOf(given, text);
    this.open?.keep(span);
  }

  get openMark(): number {
    return 0;
  }

  get policy(): Policy {
    return this.#policy;
  }

  set policy(policy: Policy) {
    const { limits, redactor, sampler } = policy;
    this.#policy = policy;
    this.sampler = sampler;
    this.takesAnything =
      redactor === undefined && limits.valueLength >= 0x7fff_ffff && limits.attributes >= MAX_NAMES;
  }

  /** Spans that are recorded from now on are of this resource. */
  setResource(resource: Resource): void {
    const { attributes, schemaUrl } = resource;
    this.describedResource = resource;
    this.resource = this.define(RESOURCE_DESCRIPTION, this.#redacted(attributes), (writer) => {
      if (schemaUrl !== '') writer.text(SCHEMA_URL, schemaUrl);
    });
  }

  /** Without what is dropped, and with what is masked. */
  #redacted(attributes: SpanAttributes): SpanAttributes {
    const { redactor } = this.policy;
    if (redactor === undefined) return attributes;
    const entries = Object.entries(attributes).map(([name, value]) => [
      name,
      redactor.value(name, value),
    ]);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as SpanAttributes;
  }

  /** The number of a scope; 0: it could not be defined. */
  scopeNumber(scope: Scope): number {
    if (scope.output !== this && scope !== NO_SCOPE) this.#defineScope(scope);
    return scope.number;
  }

  /** Apart from its caller: a function with a closure allocates for it each time, even if it makes none. */
  #defineScope(scope: Scope): void {
    scope.number = this.define(SCOPE_DESCRIPTION, scope.attributes, (writer) => {
      writer.text(SCOPE_NAME, scope.name);
      if (scope.version !== '') writer.text(SCOPE_VERSION, scope.version);
      if (scope.schemaUrl !== '') writer.text(SCHEMA_URL, scope.schemaUrl);
    });
    scope.output = this;
  }

  /** Records a span that has ended. Never throws: what cannot be recorded is counted. */
  record(span: Span, endTime: Instant | undefined): void {
    if (span.start >= this.nextLook) this.lookAtClocks(span.start);
    if (observer === undefined) {
      this.#record(span, endTime);
      letGo(span);
      return;
    }
    const end = this.#endOf(endTime);
    this.#record(span, endTime);
    observer.ended(span, Math.max(span.start, Number(end)));
  }

  #endOf(endTime: Instant | undefined): TraceTime {
    try {
      return this.timeOf(endTime);
    } catch {
      // It is no time.
      return this.timeOf(undefined);
    }
  }

  #record(span: Span, endTime: Instant | undefined): void {
    const isUsual =
      span.extras === undefined && endTime === undefined && this.takesAnything === true;
    if (isUsual && span.isWhole) this.#recordFromSlot(span);
    else {
      this.recordAny(span, endTime);
      if (span.slot !== -1) this.release(span);
    }
  }

  #recordFromSlot(span: Span): void {
    try {
      this.open!.commit(span);
    } catch {
      // The trace is closed.
      this.open!.end(span.slot);
    }
    this.#forget(span);
  }

  /** A span has no slot any more. */
  #forget(span: Span): void {
    span.slot = -1;
    span.isWhole = false;
  }

  /** Encodes and records a span of any content. */
  protected recordAny(span: Span, endTime: Instant | undefined): void {
    const { slot } = span;
    // Encoding can call getters and redaction, which can record spans or kill the process.
    if (slot >= 0) this.open?.notEnding(slot);
    try {
      const now = this.timeOf(undefined);
      let end = endTime === undefined ? undefined : this.timeOf(endTime, 'endTime');
      // A start in the future: the end is no earlier.
      if (end === undefined && span.start > now) end = span.exactStart;
      const bytes = this.#encode(span, 0, end, this.#limit());
      if (bytes === undefined) {
        this.ring.countRefused();
        return;
      }
      this.commit(bytes, end, slot);
    } catch {
      // The trace is closed, or the program gave no time. Spans break no program.
      if (this.ring.isOpen) this.ring.countDropped();
    }
  }

  /**
   * Records a span whose end is known, in nanoseconds since the trace's epoch.
   *
   * @param slot of the table of open records that has a record of the span already; -1: none.
   */
  recordPast(span: Span, end: number, slot: number): void {
    try {
      const bytes = this.#encode(span, 0, end, this.#limit());
      if (bytes === undefined) {
        this.ring.countRefused();
        return;
      }
      if (slot !== -1) this.ring.openRecords!.ending(slot);
      this.commit(bytes, end, -1, this.direct);
    } catch {
      if (this.ring.isOpen) this.ring.countDropped();
    }
  }

  /** The record of a span that is still open, of at most `limit` bytes; undefined: it cannot be so small. */
  encodeOpen(span: Span, limit: number): OpenRecord | undefined {
    // Not an end before the epoch: such a one is a field, which the last sign of life does not replace.
    const end = span.start < 0 ? 0 : span.exactStart;
    const bytes = this.#encode(span, UNFINISHED, end, limit);
    if (bytes === undefined) return undefined;
    const isWhole = this.takesAnything && span.extras === undefined && this.#isComplete;
    return { bytes, isWhole };
  }

  append(span: Span, name: string, value: SpanValue): boolean {
    return this.open!.append(span, name, value);
  }

  rename(span: Span, name: string): boolean {
    return this.open!.rename(span, name);
  }

  rebuild(span: Span): void {
    this.open?.rebuild(span);
  }

  attributesOf(span: Span): Record<string, SpanValue> | undefined {
    return span.own ?? (span.isWhole ? this.open!.attributesOf(span) : undefined);
  }

  /** An attribute that is a text; empty: it is none, or absent. */
  textOf(span: Span, name: string): string {
    if (span.own === undefined) return span.isWhole ? this.open!.textOf(span, name) : '';
    const value = span.own[name];
    return typeof value === 'string' ? value : '';
  }

  /** Lets go of a span that was kept while it was open. */
  release(span: Span): void {
    const { slot } = span;
    this.#forget(span);
    this.open?.end(slot);
  }

  discard(span: Span): void {
    if (span.slot !== -1) this.release(span);
  }

  stateOf({ traceState }: Span): string {
    return traceState;
  }

  #limit(): number {
    const { packetLimit, writesThrough } = this.trace;
    const most = Math.min(packetLimit, DEFAULT_MAX_PACKET_BYTES);
    return writesThrough ? most : Math.min(most, this.ring.longestRecord);
  }

  #encode(
    span: Span,
    flags: number,
    end: TraceTime | undefined,
    limit: number,
  ): Buffer | undefined {
    const { stream, resource } = this;
    const { redactor } = this.policy;
    const attributes = this.takesAnything && span.isWhole ? this.open!.encodedOf(span) : undefined;
    const counter = stream.counter[0]!;
    const recording = { stream: stream.id, counter, resource, end, flags, attributes };
    const writer = this.takeWriter();
    writer.mostBytes = limit;
    try {
      for (const portion of PORTIONS) {
        const before = redactor?.refused;
        try {
          const bytes = encodeSpan(writer, span, recording, this.policy, portion);
          if (bytes.length > limit) continue;
          this.#isComplete = portion === PORTIONS[0] && writer.lost === 0;
          // An open span is encoded once more when it ends.
          if (redactor?.refused !== before && flags === 0)
            this.addTexts(redactor!.refused - before!);
          return bytes;
        } catch (error) {
          if (error !== TOO_LONG) throw error;
        }
      }
      return undefined;
    } finally {
      this.giveBack(writer);
    }
  }
}
