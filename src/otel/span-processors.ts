import type { Context } from '@opentelemetry/api';
import { shared } from '../core/process-state.js';
import type { ActiveContext } from '../spans/context/active-context.js';
import type { SpanObserver } from '../spans/observer.js';
import type { Scope } from '../spans/scope.js';
import { spans } from '../spans/shared-spans.js';
import type { Span } from '../spans/span.js';
import type { Instant } from '../spans/time.js';
import { shownContext } from './api-context.js';
import { settleAll } from './processor-timeout.js';
import { installReadableFields } from './readable-span.js';
import type { ObservedSpan } from './readable-span.js';
import { writtenAttributes } from './attributes.js';

/**
 * Code of the program that gets its spans, for instance to send them to a backend. Processors of OpenTelemetry's
 * SDK are of this form.
 */
export interface SpanProcessor {
  /**
   * A span has started.
   *
   * @param span a `Span` of the API that is a `ReadableSpan` too. Each version of the SDK has a type of its own for it.
   */
  onStart(span: object, parentContext: Context): void;
  /**
   * A span is about to end: what is set now is still recorded. `end` does nothing.
   *
   * @param span the same object.
   */
  onEnding?(span: object): void;
  /**
   * A span has ended.
   *
   * @param span the same object: a `ReadableSpan`.
   */
  onEnd(span: object): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** All processors of a thread, of all providers. */
class Processors implements SpanObserver {
  readonly #all = new Set<SpanProcessor>();
  #seesEnding = false;
  #hasWarned = false;
  /** Nanoseconds since 1970 of the epoch, and until when that is used. */
  #epoch = 0n;
  #epochOf: object | undefined = undefined;
  #epochUntil = 0;

  add(processors: readonly SpanProcessor[]): void {
    if (processors.length === 0) return;
    if (this.#all.size === 0) {
      installReadableFields();
      spans.observeSpans(this);
    }
    for (const processor of processors) this.#all.add(processor);
    this.#update();
  }

  started(span: Span, context: ActiveContext | undefined, scope: Scope | undefined): void {
    span.attributes ??= {};
    const observed = { scope, epoch: this.#epochAt(span), end: Number.NaN };
    (span as ObservedSpan).observed = observed;
    const shown = shownContext(context);
    this.#call((processor) => {
      processor.onStart(span, shown);
    });
  }

  ending(span: Span, endTime: Instant | undefined): boolean {
    if (!this.#seesEnding) return true;
    const { observed } = span as Partial<ObservedSpan>;
    if (observed === undefined) return true;
    // A processor ends the span.
    if (!Number.isNaN(observed.end)) return false;
    observed.end = endOf(span, endTime);
    this.#call((processor) => {
      processor.onEnding?.(span);
    });
    return true;
  }

  ended(span: Span, end: number): void {
    const { observed } = span as Partial<ObservedSpan>;
    // It started before there were processors.
    if (observed === undefined) return;
    observed.end = end;
    try {
      prepare(span);
    } catch {
      // A getter of the program: what is not redacted must not get out.
      span.attributes = {};
      if (span.extras !== undefined) span.extras.events = undefined;
    }
    this.#call((processor) => {
      processor.onEnd(span);
    });
  }

  async forceFlush(processors: Iterable<SpanProcessor>, timeoutMs: number): Promise<void> {
    const calls = [...processors].map((processor) => () => processor.forceFlush());
    await settleAll('forceFlush', calls, timeoutMs);
  }

  async shutdown(processors: Iterable<SpanProcessor>, timeoutMs: number): Promise<void> {
    const ended = [...processors];
    for (const processor of ended) this.#all.delete(processor);
    this.#update();
    const calls = ended.map((processor) => () => processor.shutdown());
    await settleAll('shutdown', calls, timeoutMs);
  }

  #update(): void {
    this.#seesEnding = [...this.#all].some((each) => each.onEnding !== undefined);
  }

  #call(fn: (processor: SpanProcessor) => void): void {
    for (const processor of this.#all) {
      try {
        fn(processor);
      } catch (error) {
        this.#warn(error);
      }
    }
  }

  /** Reading two clocks for each span would cost more than it is worth: they drift slowly. */
  #epochAt({ output, start }: Span): bigint {
    if (this.#epochOf !== output || start > this.#epochUntil) {
      this.#epoch = output!.epoch();
      this.#epochOf = output;
      this.#epochUntil = start + EPOCH_LASTS;
    }
    return this.#epoch;
  }

  #warn(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const reason = error instanceof Error ? error.message : 'no error';
    process.emitWarning(`a span processor has thrown: ${reason}`, {
      type: 'TracewrightWarning',
      code: 'TRACEWRIGHT_OTEL',
    });
  }
}

/** When a span ends, in nanoseconds since the trace's epoch, as far as that is known before its end. */
function endOf({ output, start }: Span, endTime: Instant | undefined): number {
  try {
    return Math.max(start, Number(output!.timeOf(endTime)));
  } catch {
    // It is no time.
    return start;
  }
}

/** Nanoseconds. */
const EPOCH_LASTS = 1e9;

/** Redacts and limits a span as the trace does, before it leaves the process. The span has been written by now. */
function prepare(span: Span): void {
  if (span.output === undefined) return;
  const { policy } = span.output;
  const { limits, redactor } = policy;
  const lost = Object.keys(span.attributes ?? {}).length - limits.attributes;
  if (lost > 0) span.extra().droppedAttributes += lost;
  if (redactor !== undefined) span.name = redactor.name(span.name, span.attributes);
  span.attributes = writtenAttributes(span.attributes, limits.attributes, policy);
  const { extras } = span;
  if (extras === undefined) return;
  if (redactor !== undefined) extras.message = redactor.message(extras.message);
  extras.events = extras.events?.map(({ name, time, attributes }) => ({
    name: redactor === undefined ? name : redactor.name(name),
    time,
    attributes: writtenAttributes(attributes, limits.eventAttributes, policy),
  }));
  if (extras.links === undefined) return;
  const links = extras.links.slice(0, limits.links);
  extras.droppedLinks += extras.links.length - links.length;
  extras.links = links.map(({ to, attributes }) =>
    attributes === undefined
      ? { to }
      : { to, attributes: writtenAttributes(attributes, limits.linkAttributes, policy) },
  );
}

/** Of the first copy of this package in the thread. */
export const processors = shared('otel.processors', () => new Processors());
