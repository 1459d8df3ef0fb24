import { BAGGAGE, TRACE_PARENT } from '../../../spans/context/headers.js';
import type { Span } from '../../../spans/span.js';
import { spans } from '../../../spans/shared-spans.js';
import { otherTracing } from '../../otel/other-tracing.js';
import { callAttributes } from '../calls.js';
import type { Call, CallHeaders, CallRecorder, CallTarget } from '../calls.js';
import { ERROR_TYPE, hostAndPort, knownMethod, spanName, STATUS_CODE } from '../conventions.js';
import type { PropagationPolicy } from './propagation-policy.js';
import { HTTP_SCOPE } from './scope.js';

const ERROR = 2;

/** Records outgoing requests as spans below the active one, and puts their ids into the headers. */
export class SpanCallRecorder implements CallRecorder {
  readonly #policy: PropagationPolicy;

  constructor(policy: PropagationPolicy) {
    this.#policy = policy;
  }

  start(target: CallTarget, headers: CallHeaders | undefined): Call {
    const attributes = callAttributes(target);
    const name = spanName(knownMethod(target.method));
    const span = spans.startScopedSpan(HTTP_SCOPE, name, attributes, { kind: 'client' });
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

  constructor(span: Span) {
    this.#span = span;
  }

  answered(status: number): void {
    const span = this.#span;
    span.set(STATUS_CODE, status);
    if (status < 400) return;
    span.set(ERROR_TYPE, String(status));
    span.markStatus(ERROR, '');
  }

  end(failure?: string): void {
    const span = this.#span;
    if (failure !== undefined) {
      span.set(ERROR_TYPE, failure);
      span.markStatus(ERROR, '');
    }
    span.end();
  }
}
