import { BAGGAGE, TRACE_PARENT } from '../../../spans/context/headers.js';
import type { Span } from '../../../spans/span.js';
import { KINDS } from '../../../spans/layout.js';
import { spans } from '../../../spans/shared-spans.js';
import { SpanEnding } from '../../../spans/write/span-ending.js';
import { otherTracing } from '../../otel/other-tracing.js';
import { callAttributes } from '../calls.js';
import type { Call, CallHeaders, CallRecorder, CallTarget } from '../calls.js';
import { ERROR_TYPE, hostAndPort, knownMethod, spanName, STATUS_CODE } from '../conventions.js';
import type { PropagationPolicy } from './propagation-policy.js';
import { HTTP_SCOPE } from './scope.js';

const ERROR = 2;
const CLIENT = KINDS.indexOf('client');
/** From this status on the request has failed. */
const FAILED = 400;

/** What a call that was answered gets at its end. It has no text. */
const ANSWERED = new SpanEnding(STATUS_CODE, ERROR_TYPE);

/** Records outgoing requests as spans below the active one, and puts their ids into the headers. */
export class SpanCallRecorder implements CallRecorder {
  readonly #policy: PropagationPolicy;

  constructor(policy: PropagationPolicy) {
    this.#policy = policy;
  }

  start(target: CallTarget, headers: CallHeaders | undefined): Call {
    const attributes = callAttributes(target);
    const name = spanName(knownMethod(target.method));
    const span = spans.startIn(spans.activeContext(), HTTP_SCOPE, name, CLIENT, attributes);
    if (headers !== undefined) this.#propagate(span, target, headers);
    return new SpanCall(span);
  }

  #propagate(span: Span, { authority }: CallTarget, headers: CallHeaders): void {
    if (otherTracing.isRegistered) return;
    const host = hostAndPort(authority)?.host ?? '';
    if (span.activeSpan === undefined || !this.#policy.sendsTrace(host)) return;
    if (headers.has(TRACE_PARENT)) return;
    const sendsBaggage = this.#policy.sendsBaggage(host) && !headers.has(BAGGAGE);
    spans.injectSpan(span, sendsBaggage ? span.baggage : undefined, headers);
  }
}

class SpanCall implements Call {
  readonly #span: Span;
  /** Of an answer that the span does not have yet. */
  #status: number | undefined = undefined;

  constructor(span: Span) {
    this.#span = span;
  }

  answered(status: number): void {
    if (status < FAILED && status >>> 0 === status) {
      this.#status = status;
      return;
    }
    this.#status = undefined;
    const span = this.#span;
    span.set(STATUS_CODE, status);
    if (status < FAILED) return;
    span.set(ERROR_TYPE, String(status));
    span.markStatus(ERROR, '');
  }

  end(failure?: string): void {
    const span = this.#span;
    const status = this.#status;
    if (status !== undefined) {
      if (failure === undefined && spans.endRequestWith(span, ANSWERED, status, '', false)) return;
      span.set(STATUS_CODE, status);
    }
    if (failure !== undefined) {
      span.set(ERROR_TYPE, failure);
      span.markStatus(ERROR, '');
    }
    span.end();
  }
}
