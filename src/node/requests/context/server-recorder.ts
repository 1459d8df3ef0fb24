import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { SpanValue } from '../../../spans/attributes.js';
import { BAGGAGE, TRACE_PARENT } from '../../../spans/context/headers.js';
import { OTHER_METHOD } from '../../../spans/http-methods.js';
import { spans } from '../../../spans/shared-spans.js';
import type { Span } from '../../../spans/span.js';
import { SpanEnding } from '../../../spans/write/span-ending.js';
import {
  ABORTED,
  ERROR_TYPE,
  hostAndPort,
  knownMethod,
  ORIGINAL_METHOD,
  PROTOCOL,
  RESPONSE_BYTES,
  ROUTE,
  serverAttributes,
  spanName,
  STATUS_CODE,
} from '../conventions.js';
import type { Exchange, ServerRecorder } from '../exchange.js';
import { bounded, pathOf } from '../url-path.js';
import { HeaderReader } from './header-reader.js';
import type { PropagationPolicy } from './propagation-policy.js';
import { HTTP_SCOPE } from './scope.js';
import { SERVER, ServerTemplates } from './server-template.js';
import type { ServerRequest } from './server-template.js';

const ERROR = 2;
/** From this status on the server has failed. */
const FAILED = 500;

/** What a request that was answered gets at its end. */
const ANSWERED = new SpanEnding(STATUS_CODE, ROUTE);

function schemeOf(socket: Socket): string {
  return 'encrypted' in socket ? 'https' : 'http';
}

/** Records server requests as spans of traces, which are active in the handlers. */
export class SpanServerRecorder implements ServerRecorder {
  readonly #policy: PropagationPolicy;
  readonly #headers = new HeaderReader();
  readonly #templates = new ServerTemplates();
  /** The request that begins. */
  readonly #request: ServerRequest = {
    method: '',
    scheme: '',
    version: '',
    authority: '',
    host: undefined,
    port: undefined,
  };

  constructor(policy: PropagationPolicy) {
    this.#policy = policy;
  }

  start(exchange: Exchange, message: IncomingMessage, socket: Socket): void {
    const headers = this.#headers;
    headers.read(message.rawHeaders);
    const request = this.#request;
    request.method = exchange.method;
    request.scheme = schemeOf(socket);
    request.version = message.httpVersion;
    request.authority = headers.authority;
    request.host = headers.host;
    request.port = headers.port;
    const sent = headers.hasContext ? message.headers : undefined;
    exchange.span = this.#begin(request, exchange.url, sent, socket);
  }

  /** Starts the span of a connection that leaves HTTP with this request, and makes it active. */
  startConnection(message: IncomingMessage, socket: Socket): Span {
    const headers = this.#headers;
    headers.read(message.rawHeaders);
    const { method = '', url = '', headers: sent } = message;
    const { host, port, hasContext } = headers;
    const attributes = this.#attributes(method, schemeOf(socket), undefined, host, port, url);
    const { upgrade } = sent;
    if (upgrade !== undefined) attributes[PROTOCOL] = bounded(upgrade.toLowerCase());
    return this.#beginAny(method, attributes, hasContext ? sent : undefined, socket);
  }

  /** Starts the span of a request of HTTP/2, and makes it active. */
  startStream(headers: IncomingHttpHeaders, socket: Socket | undefined): Span {
    const text = (name: string): string => String(headers[name] ?? '');
    const request = this.#request;
    request.method = text(':method');
    request.scheme = text(':scheme');
    request.version = '2';
    request.authority = text(':authority') || text('host');
    const authority = hostAndPort(request.authority);
    request.host = authority?.host;
    request.port = authority?.port;
    const sent = TRACE_PARENT in headers || BAGGAGE in headers ? headers : undefined;
    return this.#begin(request, text(':path'), sent, socket);
  }

  /** @param sent the headers, if they say something of a trace. */
  #begin(
    request: ServerRequest,
    url: string,
    sent: object | undefined,
    socket: Socket | undefined,
  ): Span {
    const template = this.#templates.find(request);
    if (template === undefined) {
      const { method, scheme, version, host, port } = request;
      const attributes = this.#attributes(method, scheme, version, host, port, url);
      return this.#beginAny(method, attributes, sent, socket);
    }
    const remote = sent === undefined ? undefined : spans.extract(sent);
    const trusted = remote === undefined || this.#policy.trusts(socket?.remoteAddress);
    const span = spans.startRequestFrom(template, pathOf(url), remote, trusted);
    // Also if it is not recorded: on a connection that is kept the span of the request before is active.
    spans.enterContext(span);
    return span;
  }

  #attributes(
    method: string,
    scheme: string,
    version: string | undefined,
    host: string | undefined,
    port: number | undefined,
    url: string,
  ): Record<string, SpanValue> {
    const known = knownMethod(method);
    const attributes: Record<string, SpanValue> = serverAttributes(
      known,
      scheme,
      version,
      host,
      port,
      pathOf(url),
    );
    if (known === OTHER_METHOD) attributes[ORIGINAL_METHOD] = method;
    return attributes;
  }

  /** As `#begin`, without a template. */
  #beginAny(
    method: string,
    attributes: Record<string, SpanValue>,
    sent: object | undefined,
    socket: Socket | undefined,
  ): Span {
    const remote = sent === undefined ? undefined : spans.extract(sent);
    const trusted = remote === undefined || this.#policy.trusts(socket?.remoteAddress);
    const name = spanName(knownMethod(method));
    const span = spans.startRequest(HTTP_SCOPE, name, attributes, SERVER, remote, trusted);
    spans.enterContext(span);
    return span;
  }

  /** The request has its route also if it is never answered. */
  routed(exchange: Exchange, route: string): void {
    const { method, span, keptRoute } = exchange;
    if (span === undefined || !this.keepRoute(span, method, keptRoute, route)) return;
    exchange.keptRoute = route;
  }

  /**
   * Puts the route into the record of an open span. False: the span has no record.
   *
   * @param before the route that it has; empty: none.
   */
  keepRoute(span: Span, method: string, before: string, route: string): boolean {
    if (span.slot === -1) return false;
    const name = spanName(knownMethod(method));
    const named =
      span.name === (before === '' ? name : `${name} ${before}`) ? `${name} ${route}` : span.name;
    if (spans.keepWith(span, named, ROUTE, route)) return true;
    span.change()[ROUTE] = route;
    span.name = named;
    spans.keepAnew(span);
    return true;
  }

  answered(exchange: Exchange, bytes: number | undefined): void {
    const { method, route, span, response } = exchange;
    if (span === undefined) return;
    const { statusCode } = response;
    if (exchange.keptRoute !== '') this.#routedAgain(exchange);
    // The record of the open request has the rest.
    const added = route === exchange.keptRoute ? '' : route;
    if (
      bytes !== undefined ||
      !(statusCode < FAILED) ||
      !this.#endUsually(span, statusCode, added)
    ) {
      this.end(span, method, route, statusCode, bytes, false);
    }
  }

  /** The record has the route of the end, also if the router went on to another one without a word. */
  #routedAgain(exchange: Exchange): void {
    const { route, keptRoute } = exchange;
    if (route !== '' && route !== keptRoute) this.routed(exchange, route);
  }

  /** Ends a span that has not changed since it began; false: it has. */
  #endUsually(span: Span, status: number, route: string): boolean {
    if (status >>> 0 !== status) return false;
    return spans.endRequestWith(span, ANSWERED, status, route, route !== '');
  }

  aborted(exchange: Exchange): void {
    const { method, route, span, response } = exchange;
    if (exchange.keptRoute !== '') this.#routedAgain(exchange);
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
      const attributes = span.change();
      if (status !== undefined) attributes[STATUS_CODE] = status;
      if (bytes !== undefined) attributes[RESPONSE_BYTES] = bytes;
      if (isAborted || (status ?? 0) >= FAILED) {
        attributes[ERROR_TYPE] = isAborted ? ABORTED : String(status);
        span.markStatus(ERROR, '');
      }
      if (route !== '') {
        attributes[ROUTE] = route;
        const name = spanName(knownMethod(method));
        // Unless the program has given it another one.
        if (span.name === name) span.name = `${name} ${route}`;
      }
    }
    spans.endRequest(span);
  }
}
