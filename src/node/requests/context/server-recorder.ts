import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { AsyncLocalStorage } from 'node:async_hooks';
import type { SpanValue } from '../../../spans/attributes.js';
import { spans } from '../../../spans/shared-spans.js';
import type { Span } from '../../../spans/span.js';
import * as http from '../conventions.js';
import type { Exchange, ServerRecorder } from '../exchange.js';
import { pathOf } from '../url-path.js';
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
    exchange.span = this.startSpan(request, socket, undefined);
  }

  /**
   * Starts the span of a request, and makes it active.
   *
   * @param protocol what the connection speaks from now on; undefined: HTTP.
   */
  startSpan(request: IncomingMessage, socket: Socket, protocol: string | undefined): Span {
    const method = request.method ?? '';
    const known = http.knownMethod(method);
    const headers = this.#headers;
    headers.read(request.rawHeaders);
    const attributes: Record<string, SpanValue> = { ...UNREAD };
    attributes[http.METHOD] = known;
    attributes[http.PATH] = pathOf(request.url ?? '');
    attributes[http.SCHEME] = 'encrypted' in socket ? 'https' : 'http';
    if (protocol === undefined) attributes[http.PROTOCOL_VERSION] = request.httpVersion;
    else attributes[http.PROTOCOL] = protocol;
    attributes[http.ADDRESS] = headers.host;
    attributes[http.PORT] = headers.port;
    if (known === http.OTHER) attributes[http.ORIGINAL_METHOD] = method;
    const remote = headers.hasContext ? spans.extract(request.headers) : undefined;
    const trusted = remote === undefined || this.#policy.trusts(socket.remoteAddress);
    const name = http.spanName(method);
    const span = spans.startRequest(HTTP_SCOPE, name, attributes, 'server', remote, trusted);
    // Also if it is not recorded: on a connection that is kept the span of the request before is active.
    this.#storage.enterWith(span);
    return span;
  }

  answered(exchange: Exchange, bytes: number | undefined): void {
    const { span, response } = exchange;
    if (span === undefined) return;
    const { statusCode } = response;
    if (span.recording) {
      const attributes = attributesOf(span);
      attributes[http.STATUS_CODE] = statusCode;
      if (bytes !== undefined) attributes[http.RESPONSE_BYTES] = bytes;
      if (statusCode >= 500) {
        attributes[http.ERROR_TYPE] = String(statusCode);
        span.setStatus(ERROR, '');
      }
    }
    this.#end(exchange, span);
  }

  aborted(exchange: Exchange): void {
    const { span, response } = exchange;
    if (span === undefined) return;
    if (span.recording) {
      const attributes = attributesOf(span);
      if (response.headersSent) attributes[http.STATUS_CODE] = response.statusCode;
      attributes[http.ERROR_TYPE] = http.ABORTED;
      span.setStatus(ERROR, '');
    }
    this.#end(exchange, span);
  }

  #end({ method, route }: Exchange, span: Span): void {
    if (route !== '' && span.recording) {
      attributesOf(span)[http.ROUTE] = route;
      const name = http.spanName(method);
      // Unless the program has given it another one.
      if (span.name === name) span.name = `${name} ${route}`;
    }
    spans.endRequest(span);
  }
}
