import { injectSpan } from '../../../spans/propagation.js';
import type { Span } from '../../../spans/span.js';
import { startSpan } from '../../../spans/spans.js';
import { Guard } from '../../guard.js';
import { callAttributes, endFailed, recordStatus } from './client-requests.js';
import * as http from './conventions.js';
import type { PropagationPolicy } from './propagation-policy.js';

const CALL = Symbol('tracewright.span');

/** The parts of undici's request that its channels document. */
interface UndiciMessage {
  request: {
    [CALL]?: Span;
    origin?: unknown;
    path?: unknown;
    method?: unknown;
    /** A flat list, or the text that is sent. */
    headers?: unknown;
    addHeader?: (name: string, value: string) => unknown;
  };
  response?: { statusCode?: number };
  error?: unknown;
}

function carriesTrace(headers: unknown): boolean {
  if (typeof headers === 'string') return /^traceparent:/im.test(headers);
  if (!Array.isArray(headers)) return false;
  return headers.some((each) => typeof each === 'string' && each.toLowerCase() === 'traceparent');
}

/** Records the requests of `fetch` and undici as spans below the active one, and sends their ids. */
export function traceFetchRequests(policy: PropagationPolicy): void {
  const guard = new Guard('fetch requests');
  guard.subscribe('undici:request:create', ({ request }: UndiciMessage) => {
    const method = String(request.method);
    const [, scheme = '', authority = ''] =
      /^(https?):\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(String(request.origin)) ?? [];
    const attributes = callAttributes(method, scheme, authority, String(request.path));
    const span = startSpan(http.spanName(method), attributes, { kind: 'client' });
    request[CALL] = span;
    const host = http.hostAndPort(authority)?.host ?? '';
    if (span.activeSpan === undefined || !policy.sendsTrace(host)) return;
    if (carriesTrace(request.headers)) return;
    injectSpan(span, policy.sendsBaggage(host) ? span.baggage : undefined, {
      set(name: string, value: string) {
        request.addHeader?.(name, value);
      },
    });
  });
  guard.subscribe('undici:request:headers', ({ request, response }: UndiciMessage) => {
    const span = request[CALL];
    if (span !== undefined) recordStatus(span, response?.statusCode ?? 0);
  });
  guard.subscribe('undici:request:trailers', ({ request }: UndiciMessage) => {
    request[CALL]?.end();
  });
  guard.subscribe('undici:request:error', ({ request, error }: UndiciMessage) => {
    const span = request[CALL];
    if (span !== undefined) endFailed(span, http.errorType(error));
  });
}
