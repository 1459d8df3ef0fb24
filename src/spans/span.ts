import { define, hasNames } from './attributes.js';
import type { SpanAttributes, SpanValue } from './attributes.js';
import type { Baggage } from './context/baggage.js';
import type { Carried } from './context/carried.js';
import { makeFrames, runWith } from './context/context-storage.js';
import { hexWord } from './context/ids.js';
import type { RemoteParent } from './context/remote-parent.js';
import type { SpanIds } from './context/trace-context.js';
import { wrongType } from '../core/errors.js';
import { STATUS_ERROR, STATUS_MASK, STATUS_OK, STATUS_SHIFT, TRACE_FLAGS_MASK } from './layout.js';
import { exceptionAttributes } from './exception.js';
import { beforeEnd } from './before-end.js';
import type { Policy } from './policy.js';
import type { Resource } from './resource.js';
import type { Scope } from './scope.js';
import type { Instant, TraceTime } from './time.js';

/** Takes a span when it ends. */
export interface SpanTaker {
  readonly policy: Policy;
  /** Nanoseconds since the trace's epoch: of a time that a caller gives, or now. */
  timeOf(time: undefined): number;
  timeOf(time: Instant | undefined, field?: string): TraceTime;
  record(span: Span, endTime: Instant | undefined): void;
  /** Adds an attribute to the slot of a span that has everything; false: that cannot be. */
  append(span: Span, name: string, value: SpanValue): boolean;
  /** Gives another name to such a span; false: that cannot be. */
  rename(span: Span, name: string): boolean;
  /** Writes what a span is now to a slot, if it has one. */
  rebuild(span: Span): void;
  /** The attributes of a span; undefined: there are none. */
  attributesOf(span: Span): Record<string, SpanValue> | undefined;
  /** Lets go of a span that was kept while it was open. */
  release(span: Span): void;
  /** Lets go of a span that is not worth a record. */
  discard(span: Span): void;
  /** The `tracestate` of requests that are sent below a span. */
  stateOf(span: Span): string;
  /** The trace's epoch in nanoseconds since 1970, by the clocks as they are now. */
  epoch(): bigint;
  /** The resource of the process's spans. */
  readonly describedResource: Resource;
}

/** A call of the hook's own below a request that goes on after it has returned, such as a handler. */
export interface WaitingCall {
  /** The one that was waiting before. */
  readonly earlier: WaitingCall | undefined;
  /** Undefined: it is over. */
  span: Span | undefined;
}

/** Spans that were not worth a record. */
interface OmittedSpans {
  count: number;
  /** Nanoseconds of all together. */
  ns: number;
}

/** Another span that a span has to do with. */
export interface SpanLink {
  to: Span | RemoteParent;
  attributes?: SpanAttributes;
}

/** An event of an open span. */
interface HeldEvent {
  name: string;
  /** Nanoseconds since the trace's epoch. */
  time: TraceTime;
  attributes: SpanAttributes | undefined;
}

/** Fields that most spans do not have. */
class SpanExtras {
  events: HeldEvent[] | undefined = undefined;
  links: readonly SpanLink[] | undefined = undefined;
  /** Of a span whose scope has no number. */
  scope: Scope | undefined = undefined;
  message = '';
  /** The message of what the API has recorded last, if that answers a request and is no failure. */
  answer: string | undefined = undefined;
  /** The start with all of its digits, if a double has not. */
  start: bigint | undefined = undefined;
  droppedAttributes = 0;
  droppedEvents = 0;
  droppedLinks = 0;
}

/** A double to V8, as every time is. Nothing is longer than since then. */
const NO_TIME = NaN;

/** Of `Span.slot`: the table of open spans was full. */
export const NOT_KEPT = -2;
/** Where an open span is in its life. */
export const NOT_RECORDED = 0;
export const OPEN = 1;
export const ENDED = 2;
/** It has the ids of another process's span, to be a parent. */
export const REMOTE = 3;
/** Of `Span.flags`, and of no record: the same output records its parent, or has done so. */
export const BELOW = 1 << 15;
/** Of `Span.flags`, and of no record: a span is below it, or the program has had it in its hands. */
export const SHOWN = 1 << 16;
/** Of `Span.flags`, and of no record: a span of a framework's own, which is often not worth a record. */
export const MINOR = 1 << 17;
/** Nanoseconds from which on it is worth one. */
const MINOR_NS = 1e6;

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { hasOwnProperty } = Object.prototype;

function withId(span: Span): Span | undefined {
  return (span.t0 | span.t1 | span.t2) === 0 ? undefined : span;
}

/** The properties of an object as they are now. What a getter or a proxy throws leaves them out. */
export function snapshot(attributes: SpanAttributes): Record<string, SpanValue> {
  try {
    return { ...attributes };
  } catch {
    return snapshotOfHostile(attributes);
  }
}

function snapshotOfHostile(attributes: SpanAttributes): Record<string, SpanValue> {
  const read: Record<string, SpanValue> = {};
  try {
    for (const name of Object.keys(attributes)) {
      try {
        define(read, name, attributes[name]);
      } catch {
        // It is left out.
      }
    }
  } catch {
    // A proxy that does not say what it has.
  }
  return read;
}

/**
 * One operation of a service: made by `startSpan` and `withSpan`. It is an `ActiveContext` of its own.
 *
 * Its fields are set by the constructor: initializers of fields would double what an object costs.
 */
export class Span {
  /** @internal The trace id, as signed words. */
  declare readonly t0: number;
  /** @internal */
  declare readonly t1: number;
  /** @internal */
  declare readonly t2: number;
  /** @internal */
  declare readonly t3: number;
  /** @internal The span id. */
  declare readonly s0: number;
  /** @internal */
  declare readonly s1: number;
  /** @internal The id of the parent; 0: none. */
  declare readonly p0: number;
  /** @internal */
  declare readonly p1: number;
  /** @internal The flags of the layout, without the resource; and BELOW. */
  declare flags: number;
  /** @internal The number of the scope. */
  declare scope: number;
  /** @internal */
  declare state: number;
  /** @internal The slot that keeps the span while it is open; -1: none; or NOT_KEPT. */
  declare slot: number;
  /** @internal Whether the slot has the final record but for extras and status. Otherwise it is encoded anew. */
  declare isWhole: boolean;
  /** @internal At least as many attributes as there are; -1: they are not counted. */
  declare count: number;
  /** @internal Nanoseconds since the trace's epoch. */
  declare start: number;
  /** @internal */
  declare name: string;
  /** @internal All attributes as an object; undefined: there are none, or the slot alone has them. */
  declare own: Record<string, SpanValue> | undefined;
  /** @internal */
  declare extras: SpanExtras | undefined;
  /** @internal */
  declare readonly traceState: string;
  /** @internal */
  declare readonly output: SpanTaker | undefined;
  /** @internal What else is active while the span is. */
  declare readonly carried: Carried | undefined;
  /** @internal The topmost span above it in this process, such as a request's; itself if none is above it. */
  declare readonly root: Span;
  /** @internal Of a root: what was below it, and was not worth a span. */
  declare omitted: OmittedSpans | undefined;
  /** @internal Of a root: the last call below it that waits; those before it may be over. */
  declare waiting: WaitingCall | undefined;

  /**
   * @internal Use `startSpan`.
   * @param root undefined: the span itself.
   */
  constructor(
    output: SpanTaker | undefined,
    state: number,
    name: string,
    t0: number,
    t1: number,
    t2: number,
    t3: number,
    s0: number,
    s1: number,
    p0: number,
    p1: number,
    flags: number,
    traceState: string,
    carried: Carried | undefined,
    root?: Span,
  ) {
    this.t0 = t0;
    this.t1 = t1;
    this.t2 = t2;
    this.t3 = t3;
    this.s0 = s0;
    this.s1 = s1;
    this.p0 = p0;
    this.p1 = p1;
    this.flags = flags;
    this.scope = 0;
    this.state = state;
    this.slot = -1;
    this.isWhole = false;
    this.count = -1;
    this.start = NO_TIME;
    this.name = name;
    this.own = undefined;
    this.extras = undefined;
    this.traceState = traceState;
    this.output = output;
    this.carried = carried;
    this.root = root ?? this;
    this.omitted = undefined;
    this.waiting = undefined;
  }

  /** Whether the span is recorded and open: `set`, `event`, `fail`, `rename` and `end` do something. */
  get recording(): boolean {
    return this.state === OPEN;
  }

  /** The ids in W3C's notation, for logs: `logger.info({ ...span.ids }, …)`. */
  get ids(): SpanIds {
    this.flags |= SHOWN;
    return {
      trace_id: hexWord(this.t0) + hexWord(this.t1) + hexWord(this.t2) + hexWord(this.t3),
      span_id: hexWord(this.s0) + hexWord(this.s1),
      trace_flags: (this.flags & TRACE_FLAGS_MASK).toString(16).padStart(2, '0'),
    };
  }

  /** For `JSON.stringify`, in logs for instance. */
  toJSON(): SpanIds & { name: string } {
    return { name: this.name, ...this.ids };
  }

  /** Travels with requests that are sent while the span is active. */
  get baggage(): Baggage | undefined {
    return this.carried === undefined ? undefined : this.carried.baggage;
  }

  /** @internal None when it carries nothing but baggage. */
  get activeSpan(): Span | undefined {
    // So short that V8 inlines it into all that ask.
    return this.t3 === 0 ? withId(this) : this;
  }

  /**
   * Sets an attribute. The last value of a name counts; undefined removes it.
   *
   * @throws TracewrightError when the name is no string.
   */
  set(name: string, value: SpanValue): this {
    if (typeof name !== 'string') throw wrongType('name', name, 'a string');
    if (this.state === OPEN) this.put(name, value);
    return this;
  }

  /** @internal As `set`, of a span that may be over for its caller. */
  put(name: string, value: SpanValue): void {
    if (this.isWhole && this.output!.append(this, name, value)) {
      if (this.own !== undefined) define(this.own, name, value);
      return;
    }
    const attributes = this.change();
    if (this.count === 0 || !hasOwnProperty.call(attributes, name)) {
      if (this.count === -1) this.count = Object.keys(attributes).length;
      if (this.count >= this.output!.policy.limits.attributes) {
        this.extra().droppedAttributes++;
        return;
      }
      this.count++;
    }
    define(attributes, name, value);
    this.output!.rebuild(this);
  }

  /**
   * Records that something happened within the span.
   *
   * @param time default: now.
   */
  event(name: string, attributes?: SpanAttributes, time?: Instant): this {
    if (typeof name !== 'string') throw wrongType('name', name, 'a string');
    const given: unknown = attributes;
    if (given !== undefined && !hasNames(given)) {
      throw wrongType('attributes', given, 'an object of names and values');
    }
    if (this.state !== OPEN) return this;
    const output = this.output!;
    const extras = this.extra();
    const events = (extras.events ??= []);
    if (events.length >= output.policy.limits.events) {
      extras.droppedEvents++;
      return this;
    }
    events.push({
      name,
      time: output.timeOf(time),
      attributes: attributes === undefined ? undefined : snapshot(attributes),
    });
    return this;
  }

  /** Marks the span as failed, and records what was thrown as an event `exception`. */
  fail(error?: unknown): this {
    return this.failAt(error, undefined);
  }

  /** @internal As `fail`, of what was thrown at a time; undefined: now. */
  failAt(error: unknown, time: Instant | undefined): this {
    if (this.state !== OPEN) return this;
    const exception = exceptionAttributes(error);
    this.markStatus(STATUS_ERROR, exception['exception.message'] ?? '');
    if (error !== undefined) this.event('exception', exception, time);
    return this;
  }

  /** Gives the span another name. */
  rename(name: string): this {
    if (typeof name !== 'string') throw wrongType('name', name, 'a string');
    if (this.state === OPEN) this.putName(name);
    return this;
  }

  /** @internal As `rename`, of a span that may be over for its caller. */
  putName(name: string): void {
    if (this.isWhole && this.output!.rename(this, name)) return;
    this.change();
    this.name = name;
    this.output!.rebuild(this);
  }

  /**
   * Ends the span: it is recorded now. A second end does nothing.
   *
   * @param endTime milliseconds since 1970, a Date, or a bigint of nanoseconds since 1970; default: now.
   */
  end(endTime?: Instant): void {
    if (this.state !== OPEN) return;
    if (beforeEnd !== undefined && !beforeEnd(this, endTime)) return;
    this.state = ENDED;
    this.output!.record(this, endTime);
  }

  /** Calls `fn` with the span active, for what loses it: callbacks, emitters, pools. */
  run<Result>(fn: () => Result): Result {
    if (typeof fn !== 'function') throw wrongType('fn', fn, 'a function');
    return runWith(this, fn);
  }

  /** @internal 0: unset, 1: ok, 2: error. What is ok stays so. */
  markStatus(status: number, message: string): void {
    if (this.state !== OPEN) return;
    const now = (this.flags >> STATUS_SHIFT) & STATUS_MASK;
    if (now === STATUS_OK || status === 0) return;
    this.flags = (this.flags & ~(STATUS_MASK << STATUS_SHIFT)) | (status << STATUS_SHIFT);
    if (status === STATUS_ERROR && message !== '') this.extra().message = message;
    else if (this.extras !== undefined) this.extras.message = '';
  }

  /** @internal The attributes, as an object of the span's own. Those that only the slot has are read from it. */
  get attributes(): Record<string, SpanValue> | undefined {
    if (this.own === undefined && this.isWhole) this.own = this.output!.attributesOf(this);
    return this.own;
  }

  set attributes(attributes: Record<string, SpanValue> | undefined) {
    this.isWhole = false;
    this.own = attributes;
  }

  /** @internal The attributes, to be changed, or before another change that the slot does not have. */
  change(): Record<string, SpanValue> {
    const attributes = (this.own = this.attributes ?? {});
    this.isWhole = false;
    this.count = -1;
    return attributes;
  }

  /** @internal Of a span that starts, before anybody has seen its ids: it is the root of another trace. */
  setTrace(t0: number, t1: number, t2: number, t3: number): void {
    const root = { t0, t1, t2, t3, p0: 0, p1: 0, traceState: '' };
    Object.assign(this, root);
  }

  /** @internal Ends it without a record if it took no time, nobody has seen it, and nothing is below it. */
  omitIfMinor(endTime?: Instant): boolean {
    if ((this.flags & SHOWN) !== 0 || this.root === this || this.state !== OPEN) return false;
    const output = this.output!;
    const end = endTime === undefined ? output.timeOf(undefined) : Number(output.timeOf(endTime));
    const ns = end - this.start;
    if (ns >= MINOR_NS) return false;
    this.omit(ns);
    return true;
  }

  /** @internal Its record is not written: what begins in its context from now on is below what is above it. */
  omit(ns: number): void {
    const { root } = this;
    this.state = ENDED;
    this.output!.discard(this);
    Object.assign(this, { s0: this.p0, s1: this.p1 });
    if (root.omitted === undefined) root.omitted = { count: 1, ns };
    else {
      root.omitted.count++;
      root.omitted.ns += ns;
    }
  }

  /** @internal A start that may be far from the recording. */
  startAt(time: TraceTime): void {
    this.start = Number(time);
    if (typeof time === 'bigint') this.extra().start = time;
  }

  /** @internal The start with all of its digits. */
  get exactStart(): TraceTime {
    return this.extras === undefined ? this.start : (this.extras.start ?? this.start);
  }

  /** @internal */
  extra(): SpanExtras {
    return (this.extras ??= new SpanExtras());
  }
}

makeFrames(Span);
