import type { SpanContext } from '@opentelemetry/api';
import { STATUS_ERROR, STATUS_MASK, STATUS_SHIFT } from '../spans/layout.js';
import { spans } from '../spans/shared-spans.js';
import { MINOR, OPEN } from '../spans/span.js';
import type { Span } from '../spans/span.js';
import { attributesOf, isValue, valueOf } from './attributes.js';
import { spanContextOf } from './span-context.js';
import { linkOf, linksOf } from './span-links.js';
import { instantOf, isTimeInput } from './time-input.js';
import { countWrongArgument } from './wrong-arguments.js';
import type { Instant } from '../spans/time.js';
import { exceptionAttributes, isAnswer } from '../spans/exception.js';
import type { ExceptionAttributes } from '../spans/exception.js';

/**
 * The attributes of an event `exception` as OpenTelemetry's SDK has them: a code goes before the name of the class.
 *
 * @returns undefined for what says nothing.
 */
function exceptionAttributesOf(exception: unknown): ExceptionAttributes | undefined {
  if (exception === undefined || exception === null) return undefined;
  const found = exceptionAttributes(exception);
  const code = codeOf(exception);
  const attributes = code === undefined ? found : { ...found, 'exception.type': code };
  const { 'exception.type': type, 'exception.message': message } = attributes;
  return type === undefined && message === undefined ? undefined : attributes;
}

function codeOf(exception: unknown): string | undefined {
  if (typeof exception !== 'object') return undefined;
  try {
    const { code } = exception as { code?: unknown };
    return (typeof code === 'string' && code !== '') || (typeof code === 'number' && code !== 0)
      ? String(code)
      : undefined;
  } catch {
    return undefined;
  }
}

function setAttribute(span: Span, name: unknown, value: unknown): void {
  if (typeof name !== 'string' || name === '' || !isValue(value)) countWrongArgument();
  // As in OpenTelemetry's SDK, which keeps what was there.
  else if (value !== undefined && value !== null) {
    span.set(name, typeof value === 'object' ? valueOf(value) : value);
  }
}

function addLinks(span: Span, links: readonly NonNullable<ReturnType<typeof linkOf>>[]): void {
  if (links.length === 0) return;
  const extras = span.extra();
  const most = span.output!.policy.limits.links;
  const all = [...(extras.links ?? []), ...links];
  extras.droppedLinks += Math.max(0, all.length - most);
  extras.links = all.slice(0, most);
}

// eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
const { end: endSpan } = spans.Span.prototype;

/**
 * Ends a span of a framework without a record, if it says nothing. Its request counts it: that is recorded by others,
 * and still open.
 */
function omits(span: Span, endTime: Instant | undefined): boolean {
  const { flags, extras, root } = span;
  const hasFailed = ((flags >> STATUS_SHIFT) & STATUS_MASK) === STATUS_ERROR;
  if (hasFailed || extras !== undefined || spans.areObserved()) return false;
  if (root.scope === span.scope || !root.recording) return false;
  return span.omitIfMinor(endTime);
}

/** The methods of the API's spans, for the one class of spans that there is. */
const methods = {
  spanContext(this: Span): SpanContext {
    return spanContextOf(this);
  },

  setAttribute(this: Span, name: unknown, value: unknown): Span {
    if (this.state !== OPEN) return this;
    const isScalar = typeof value === 'string' || typeof value === 'number';
    if (isScalar && typeof name === 'string' && name !== '') return this.set(name, value);
    try {
      setAttribute(this, name, value);
    } catch {
      countWrongArgument();
    }
    return this;
  },

  setAttributes(this: Span, attributes: unknown): Span {
    if (this.state !== OPEN) return this;
    const given = attributesOf(attributes);
    for (const name in given) methods.setAttribute.call(this, name, given[name]);
    return this;
  },

  addEvent(this: Span, name: unknown, attributesOrTime?: unknown, time?: unknown): Span {
    if (this.state !== OPEN) return this;
    if (typeof name !== 'string') {
      countWrongArgument();
      return this;
    }
    const isTime = isTimeInput(attributesOrTime);
    const attributes = isTime ? undefined : attributesOf(attributesOrTime);
    this.event(name, attributes, instantOf(time ?? (isTime ? attributesOrTime : undefined)));
    return this;
  },

  addLink(this: Span, link: unknown): Span {
    if (this.state !== OPEN) return this;
    const own = linkOf(link);
    if (own !== undefined) addLinks(this, [own]);
    return this;
  },

  addLinks(this: Span, links: unknown): Span {
    if (this.state === OPEN) addLinks(this, linksOf(links));
    return this;
  },

  setStatus(this: Span, status: unknown): Span {
    if (this.state !== OPEN) return this;
    try {
      const { code, message } = status as { code: unknown; message?: unknown };
      if (code === 0 || code === 1 || code === STATUS_ERROR) {
        const isText = typeof message === 'string';
        if (code === STATUS_ERROR && !isText && message !== undefined && message !== null) {
          countWrongArgument();
        }
        const text = code === STATUS_ERROR && isText ? message : '';
        const answer = this.extras?.answer;
        const isAnswered = answer !== undefined && (text === '' || text === answer);
        if (code !== STATUS_ERROR || !isAnswered) this.markStatus(code, text);
        return this;
      }
    } catch {
      // A getter, a proxy, or nothing at all.
    }
    countWrongArgument();
    return this;
  },

  updateName(this: Span, name: unknown): Span {
    if (typeof name === 'string') this.rename(name);
    else countWrongArgument();
    return this;
  },

  recordException(this: Span, exception: unknown, time?: unknown): void {
    if (this.state !== OPEN) return;
    const attributes = exceptionAttributesOf(exception);
    this.extra().answer = isAnswer(exception)
      ? (attributes?.['exception.message'] ?? '')
      : undefined;
    if (attributes !== undefined) this.event('exception', attributes, instantOf(time));
    else if (this.extra().answer === undefined) countWrongArgument();
  },

  isRecording(this: Span): boolean {
    return this.state === OPEN;
  },

  end(this: Span, endTime?: unknown): void {
    if (this.state !== OPEN) return;
    const time = endTime === undefined ? undefined : instantOf(endTime);
    if ((this.flags & MINOR) !== 0 && omits(this, time)) return;
    endSpan.call(this, time);
  },
};

/** Gives all spans the methods of the API, those of tracewright/spans too: the two APIs show the same objects. */
export function installSpanMethods(): void {
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(spans.Span.prototype, name, {
      value,
      configurable: true,
      writable: true,
    });
  }
}
