import type { ClientRequest, IncomingMessage } from 'node:http';
import { injectSpan } from '../../../spans/propagation.js';
import type { SpanValue } from '../../../spans/attributes.js';
import type { Span } from '../../../spans/span.js';
import { startSpan } from '../../../spans/spans.js';
import { Guard } from '../../guard.js';
import { pathOf } from '../url-path.js';
import * as http from './conventions.js';
import type { PropagationPolicy } from './propagation-policy.js';

const CALL = Symbol('tracewright.span');
const ERROR = 2;

type TracedRequest = ClientRequest & { [CALL]?: Span };
type TracedResponse = IncomingMessage & { [CALL]?: Span };

interface ClientMessage {
  request: TracedRequest;
  response: TracedResponse;
  error?: unknown;
}

/** Records how a call went, without ending its span. */
export function recordStatus(span: Span, status: number): void {
  span.set(http.STATUS_CODE, status);
  if (status < 400) return;
  span.set(http.ERROR_TYPE, String(status));
  span.setStatus(ERROR, '');
}

/** Ends the span of a call that failed. */
export function endFailed(span: Span, type: string): void {
  span.set(http.ERROR_TYPE, type);
  span.setStatus(ERROR, '');
  span.end();
}

/** The attributes of a call at its start. `url.full` is without credentials and query. */
export function callAttributes(
  method: string,
  scheme: string,
  authority: string,
  path: string,
): Record<string, SpanValue> {
  const known = http.knownMethod(method);
  const attributes: Record<string, SpanValue> = { [http.METHOD]: known };
  if (known === http.OTHER) attributes[http.ORIGINAL_METHOD] = method;
  const server = http.hostAndPort(authority);
  if (server !== undefined) {
    attributes[http.ADDRESS] = server.host;
    attributes[http.PORT] = server.port ?? (scheme === 'https' ? 443 : 80);
    attributes[http.FULL_URL] = `${scheme}://${authority}${pathOf(path)}`;
  }
  return attributes;
}

/**
 * Records the requests of node:http and node:https as spans below the active one, and puts their ids into
 * the headers. On Node 20 nothing is published before the headers are sent, so they carry no ids.
 */
export function traceClientRequests(policy: PropagationPolicy): void {
  const guard = new Guard('outgoing HTTP requests');

  const start = (request: TracedRequest): Span => {
    const host = request.getHeader('host');
    const authority = typeof host === 'string' ? host : request.host;
    const scheme = request.protocol === 'https:' ? 'https' : 'http';
    const attributes = callAttributes(request.method, scheme, authority, request.path);
    const span = startSpan(http.spanName(request.method), attributes, { kind: 'client' });
    request[CALL] = span;
    return span;
  };
  const whenResponseCloses = guard.wrap<TracedResponse>((response) => {
    const span = response[CALL];
    if (span === undefined) return;
    if (response.complete) span.end();
    else endFailed(span, http.ABORTED);
  });
  const whenRequestCloses = guard.wrap<TracedRequest>((request) => {
    const span = request[CALL];
    const { res } = request as { res?: TracedResponse };
    // The response ends the span, unless it was handed over with its connection.
    if (span === undefined || res?.[CALL] !== undefined) return;
    if (res === undefined) endFailed(span, http.ABORTED);
    else span.end();
  });

  // Of Node 22 and later: what is set here is sent.
  guard.subscribe('http.client.request.created', ({ request }: ClientMessage) => {
    const span = start(request);
    const host = http.hostAndPort(request.getHeader('host') ?? request.host)?.host ?? '';
    if (span.activeSpan === undefined || !policy.sendsTrace(host)) return;
    if (request.headersSent || request.hasHeader('traceparent')) return;
    const baggage = policy.sendsBaggage(host) ? span.baggage : undefined;
    injectSpan(span, baggage, {
      set(name: string, value: string) {
        request.setHeader(name, value);
      },
    });
  });
  guard.subscribe('http.client.request.start', ({ request }: ClientMessage) => {
    if (request[CALL] === undefined) start(request);
    request.on('close', () => {
      whenRequestCloses(request);
    });
  });
  guard.subscribe('http.client.response.finish', ({ request, response }: ClientMessage) => {
    const span = request[CALL];
    if (span === undefined) return;
    // Published at the headers; the body is still to come.
    recordStatus(span, response.statusCode ?? 0);
    response[CALL] = span;
    response.on('close', () => {
      whenResponseCloses(response);
    });
  });
  guard.subscribe('http.client.request.error', ({ request, error }: ClientMessage) => {
    const span = request[CALL];
    if (span !== undefined) endFailed(span, http.errorType(error));
  });
}
