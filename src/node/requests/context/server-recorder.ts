import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { SpanValue } from '../../../spans/attributes.js';
import { spans } from '../../../spans/shared-spans.js';
import type { Span } from '../../../spans/span.js';
import * as http from '../conventions.js';
import type { Exchange, ServerRecorder } from '../exchange.js';
import { bounded, pathOf } from '../url-path.js';
import { HeaderReader } from './header-reader.js';
import type { PropagationPolicy } from './propagation-policy.js';
import { HTTP_SCOPE } from './scope.js';

const ERROR = 2;

/** The attributes of a request at its start: the spans of all requests have them in one order. */
const UNREAD: Readonly<Record<string, SpanValue>> = {
  [http.METHOD]: undefined,
  [http.PATH]: undefined,
  [http.SCHEME]: undefined,
  [http.PROTOCOL_VERSION]: undefined,
  [http.ADDRESS]: undefined,
  [http.PORT]: undefined,
};

/** The attributes of a span, to be changed in place. */
function attributesOf(span: Span): Record<string, SpanValue> {
  span.isInSlot = false;
  return (span.attributes ??= {});
}

/** Records server requests as spans of traces, which are active in the handlers. */
export class SpanServerRecorder implements ServerRecorder {
  readonly #policy: PropagationPolicy;
  readonly #storage: AsyncLocalStorage<object | undefined> = spans.contextStorage();
  readonly #headers = new HeaderReader();

  constructor(policy: PropagationPolicy) {
    this.#policy = policy;
  }

  start(exchange: Exchange, request: IncomingMessage, socket: Socket): void {
    const headers = this.#headers;
    headers.read(request.rawHeaders);
    exchange.span = this.#begin(
      request.method ?? '',
      request.url ?? '',
      'encrypted' in socket ? 'https' : 'http',
      undefined,
      request.httpVersion,
      headers,
      headers.hasContext ? request.headers : undefined,
      socket,
    );
  }

  /** Starts the span of a connection that leaves HTTP with this request, and makes it active. */
  startConnection(request: IncomingMessage, socket: Socket): Span {
    const headers = this.#headers;
    headers.read(request.rawHeaders);
    const { upgrade } = request.headers;
    return this.#begin(
      request.method ?? '',
      request.url ?? '',
      'encrypted' in socket ? 'https' : 'http',
      upgrade === undefined ? undefined : bounded(upgrade.toLowerCase()),
      undefined,
      headers,
      headers.hasContext ? request.headers : undefined,
      socket,
    );
  }

  /** Starts the span of a request of HTTP/2, and makes it active. */
  startStream(headers: IncomingHttpHeaders, socket: Socket | undefined): Span {
    const text = (name: string): string => String(headers[name] ?? '');
    const authority = http.hostAndPort(headers[':authority'] ?? headers.host);
    return this.#begin(
      text(':method'),
      text(':path'),
      text(':scheme'),
      undefined,
      '2',
      { host: authority?.host, port: authority?.port },
      'traceparent' in headers || 'baggage' in headers ? headers : undefined,
      socket,
    );
  }

  /** @param sent the headers, if they say something of a trace. */
  #begin(
    method: string,
    url: string,
    scheme: string,
    protocol: string | undefined,
    version: string | undefined,
    server: { host: string | undefined; port: number | undefined },
    sent: object | undefined,
    socket: Socket | undefined,
  ): Span {
    const known = http.knownMethod(method);
    const attributes: Record<string, SpanValue> = { ...UNREAD };
    attributes[http.METHOD] = known;
    attributes[http.PATH] = pathOf(url);
    attributes[http.SCHEME] = scheme;
    attributes[http.PROTOCOL_VERSION] = version;
    attributes[http.ADDRESS] = server.host;
    attributes[http.PORT] = server.port;
    if (protocol !== undefined) attributes[http.PROTOCOL] = protocol;
    if (known === http.OTHER) attributes[http.ORIGINAL_METHOD] = method;
    const remote = sent === undefined ? undefined : spans.extract(sent);
    const trusted = remote === undefined || this.#policy.trusts(socket?.remoteAddress);
    const name = http.spanName(method);
    const span = spans.startRequest(HTTP_SCOPE, name, attributes, 'server', remote, trusted);
    // Also if it is not recorded: on a connection that is kept the span of the request before is active.
    this.#storage.enterWith(span);
    return span;
  }

  answered(exchange: Exchange, bytes: number | undefined): void {
    const { method, route, span, response } = exchange;
    if (span !== undefined) this.end(span, method, route, response.statusCode, bytes, false);
  }

  aborted(exchange: Exchange): void {
    const { method, route, span, response } = exchange;
    const status = response.headersSent ? response.statusCode : undefined;
    if (span !== undefined) this.end(span, method, route, status, undefined, true);
  }

  /** @param isAborted whether the exchange was not completed. */
  end(
    span: Span,
    method: string,
    route: string,
    status: number | undefined,
    bytes: number | undefined,
    isAborted: boolean,
  ): void {
    if (span.recording) {
      const attributes = attributesOf(span);
      if (status !== undefined) attributes[http.STATUS_CODE] = status;
      if (bytes !== undefined) attributes[http.RESPONSE_BYTES] = bytes;
      if (isAborted || (status ?? 0) >= 500) {
        attributes[http.ERROR_TYPE] = isAborted ? http.ABORTED : String(status);
        span.markStatus(ERROR, '');
      }
      if (route !== '') {
        attributes[http.ROUTE] = route;
        const name = http.spanName(method);
        // Unless the program has given it another one.
        if (span.name === name) span.name = `${name} ${route}`;
      }
    }
    spans.endRequest(span);
  }
}
