import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { codeAt, textLength } from '../../core/utf8.js';
import type { SpanValue } from '../../spans/attributes.js';
import { failedHandlers, requestAnswered } from '../../libraries/engine/failed-handlers.js';
import { KIND_BITS, NUMBER_MASK, SERVER_BITS } from '../../spans/layout.js';
import { BAGGAGE, programFormat, TRACE_PARENT } from '../../spans/context/header-format.js';
import { otherHeaders } from '../../spans/propagation.js';
import { spans } from '../../spans/shared-spans.js';
import type { Span } from '../../spans/span.js';
import {
  ABORTED,
  ERROR_TYPE,
  HTTP_SCOPE,
  knownMethod,
  MIDDLEWARE_COUNT,
  MIDDLEWARE_MS,
  PROTOCOL,
  RESPONSE_BYTES,
  ROUTE,
  spanName,
  STATUS_CODE,
} from './conventions.js';
import type { ServedRequest } from './exchange.js';
import { describeGrpc } from './grpc.js';
import type { PropagationPolicy } from './propagation-policy.js';
import {
  attributesOf,
  isOfHttp,
  NO_VERSION,
  protocolOf,
  RequestTemplates,
  routedName,
} from './request-templates.js';
import { bounded, pathOf } from './path-and-route.js';
import { RequestContext } from './request-context.js';

const ERROR = 2;
/** Neither its version nor its scheme is known for sure. */
const WITHOUT_SOCKET = protocolOf(NO_VERSION, 0, false);
/** From this status on the server has failed. */
const FAILED = 500;

function isSecure(socket: Socket): boolean {
  return (socket as { encrypted?: unknown }).encrypted === true;
}

/** The headers of a request of HTTP/2, if they say something of a trace. */
function sentContext(headers: IncomingHttpHeaders): IncomingHttpHeaders | undefined {
  if (TRACE_PARENT in headers || BAGGAGE in headers) return headers;
  return otherHeaders().some((name) => name in headers) ? headers : undefined;
}

const HOST = 'host';
/** As most callers write it. */
const USUAL_HOST = 'Host';

/** Whether a name is that of a header, in any case. No text is made. */
function isHeader(name: string, header: string): boolean {
  const length = textLength(name);
  if (length !== header.length) return false;
  // A call of V8 costs less than a few characters.
  if (name === header) return true;
  // Letters of lower case have this bit.
  for (let i = 0; i < length; i++) {
    if ((codeAt(name, i) | 0x20) !== codeAt(header, i)) return false;
  }
  return true;
}

/**
 * Reads the headers of requests that a span needs. It reads the list that Node has made of them: Node makes the object
 * on request only, and that costs more than the span.
 */
class HeaderReader {
  /** Whether the caller has sent a trace or baggage. */
  hasContext = false;
  /** Names of headers by other formats than W3C's that carry a trace, and the program's format that decides. */
  #others = otherHeaders();
  #format = programFormat.format;

  /**
   * @param headers names and values in turn.
   * @returns the header `Host`; empty if there is none.
   */
  read(headers: readonly string[]): string {
    this.hasContext = false;
    if (programFormat.format !== this.#format) {
      this.#format = programFormat.format;
      this.#others = otherHeaders();
    }
    const others = this.#others;
    let authority = '';
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      if (name === USUAL_HOST || isHeader(name, HOST)) {
        if (authority === '') authority = headers[i + 1] ?? '';
      } else if (
        isHeader(name, TRACE_PARENT) ||
        isHeader(name, BAGGAGE) ||
        (others.length > 0 && others.includes(name.toLowerCase()))
      ) {
        this.hasContext = true;
      }
    }
    return authority;
  }
}

/** Records the requests that servers of this thread receive as spans. */
export class ServerRecorder {
  /** Undefined: no span is active in the handlers. */
  readonly context: RequestContext | undefined;
  readonly #policy: PropagationPolicy;
  readonly #hasContext: boolean;
  readonly #headers = new HeaderReader();
  readonly #templates = new RequestTemplates();

  /** @param hasContext whether spans are active in the handlers. */
  constructor(policy: PropagationPolicy, hasContext: boolean) {
    this.#policy = policy;
    this.#hasContext = hasContext;
    this.context = hasContext ? new RequestContext() : undefined;
    failedHandlers.isRequest = isRequest;
  }

  /**
   * Starts the span of a request of HTTP/1, and makes it active.
   *
   * @param path without what may be secret, here and below.
   */
  start(method: string, path: string, message: IncomingMessage, socket: Socket): Span {
    const headers = this.#headers;
    const authority = headers.read(message.rawHeaders);
    const sent = headers.hasContext === true ? message.headers : undefined;
    const { httpVersionMajor, httpVersionMinor } = message;
    const protocol = protocolOf(httpVersionMajor, httpVersionMinor, isSecure(socket));
    return this.#begin(protocol, method, authority, path, sent, socket);
  }

  /** Starts the span of a connection that leaves HTTP with this request, and makes it active. */
  startConnection(message: IncomingMessage, socket: Socket): ServedRequest {
    const headers = this.#headers;
    const authority = headers.read(message.rawHeaders);
    const { method = '', url = '', headers: sent } = message;
    const protocol = protocolOf(NO_VERSION, 0, isSecure(socket));
    const attributes = attributesOf({ protocol, method, authority }, pathOf(url));
    const { upgrade } = sent;
    if (upgrade !== undefined) attributes[PROTOCOL] = bounded(upgrade.toLowerCase());
    const span = this.#beginAny(method, attributes, headers.hasContext ? sent : undefined, socket);
    return { method, span, route: '', keptRoute: '', matched: undefined };
  }

  /** Starts the span of a request that no socket has received: below what is active, else below its sender. */
  startSocketless(
    method: string,
    path: string,
    headers: Readonly<Record<string, unknown>>,
  ): ServedRequest {
    const { host } = headers;
    const authority = typeof host === 'string' ? host : '';
    const attributes = attributesOf({ protocol: WITHOUT_SOCKET, method, authority }, path);
    const context = this.#hasContext ? spans.activeContext() : undefined;
    const name = spanName(knownMethod(method));
    const span =
      context?.activeSpan === undefined
        ? this.#startNamed(name, attributes, sentContext(headers as IncomingHttpHeaders), undefined)
        : spans.startIn(context, spans.prefixOf(name, HTTP_SCOPE, SERVER_BITS), attributes);
    return { method, path, span, route: '', keptRoute: '', matched: undefined };
  }

  /** Starts the span of a call of gRPC, and makes it active. */
  startGrpc(headers: IncomingHttpHeaders, socket: Socket | undefined): Span {
    const { name, attributes } = describeGrpc(String(headers[':path']), headers[':authority']);
    return this.#beginNamed(name, attributes, sentContext(headers), socket);
  }

  /** Starts the span of a request of HTTP/2, and makes it active. */
  startStream(headers: IncomingHttpHeaders, socket: Socket | undefined): ServedRequest {
    const text = (name: string): string => String(headers[name] ?? '');
    const method = text(':method');
    const scheme = text(':scheme');
    // A caller may send any text for it.
    const isTls = isOfHttp(scheme) ? scheme === 'https' : socket !== undefined && isSecure(socket);
    const protocol = protocolOf(2, 0, isTls);
    const authority = text(':authority') || text('host');
    const path = pathOf(text(':path'));
    const sent = sentContext(headers);
    const span = this.#begin(protocol, method, authority, path, sent, socket);
    return { method, span, route: '', keptRoute: '', matched: undefined };
  }

  /** @param sent the headers, if they say something of a trace. */
  #begin(
    protocol: number,
    method: string,
    authority: string,
    path: string,
    sent: object | undefined,
    socket: Socket | undefined,
  ): Span {
    const template = this.#templates.find(protocol, method, authority);
    if (template === undefined) {
      const attributes = attributesOf({ protocol, method, authority }, path);
      return this.#beginAny(method, attributes, sent, socket);
    }
    const remote = sent === undefined ? undefined : spans.extract(sent);
    const trusted = remote === undefined || this.#policy.trusts(socket?.remoteAddress);
    const span = spans.startRequest(template, undefined, path, remote, trusted);
    // Also if it is not recorded: on a connection that is kept the span of the request before is active.
    if (this.#hasContext === true) spans.enterContext(span);
    return span;
  }

  /** As `#begin`, without a template. */
  #beginAny(
    method: string,
    attributes: Record<string, SpanValue>,
    sent: object | undefined,
    socket: Socket | undefined,
  ): Span {
    return this.#beginNamed(spanName(knownMethod(method)), attributes, sent, socket);
  }

  #beginNamed(
    name: string,
    attributes: Record<string, SpanValue>,
    sent: object | undefined,
    socket: Socket | undefined,
  ): Span {
    const span = this.#startNamed(name, attributes, sent, socket);
    if (this.#hasContext) spans.enterContext(span);
    return span;
  }

  #startNamed(
    name: string,
    attributes: Record<string, SpanValue>,
    sent: object | undefined,
    socket: Socket | undefined,
  ): Span {
    const remote = sent === undefined ? undefined : spans.extract(sent);
    const trusted = remote === undefined || this.#policy.trusts(socket?.remoteAddress);
    const prefix = spans.prefixOf(name, HTTP_SCOPE, SERVER_BITS);
    return spans.startRequest(prefix, attributes, '', remote, trusted);
  }

  /** The request has this route now, also if it is never answered. */
  routed(served: ServedRequest, route: string): void {
    const { method, span, keptRoute } = served;
    if (span === undefined || route === '' || route === keptRoute) return;
    if (!span.recording && span.slot < 0) return;
    const name = spanName(knownMethod(method));
    // Unless the program has given it another one.
    if (span.name === (keptRoute === '' ? name : routedName(name, keptRoute))) {
      span.putName(routedName(name, route));
    }
    span.put(ROUTE, route);
    served.keptRoute = route;
  }

  /**
   * @param bytes what was written to the socket, if that is wanted.
   * @param isAborted whether it was not answered in full, and never will be.
   */
  end(
    served: ServedRequest,
    status: number | undefined,
    bytes: number | undefined,
    isAborted: boolean,
  ): void {
    const { span, route } = served;
    if (span === undefined) return;
    if (span.recording) this.routed(served, route);
    if (failedHandlers.ofRequests.size > 0) requestAnswered(span, isAborted ? undefined : status);
    if (span.waiting !== undefined) spans.endWaiting(span);
    if (span.omitted !== undefined) {
      span.set(MIDDLEWARE_COUNT, span.omitted.count);
      span.set(MIDDLEWARE_MS, span.omitted.ns / 1e6);
    }
    if (status !== undefined) span.set(STATUS_CODE, status);
    if (bytes !== undefined) span.set(RESPONSE_BYTES, bytes);
    if (isAborted || (status ?? 0) >= FAILED) {
      span.set(ERROR_TYPE, isAborted ? ABORTED : String(status));
      span.markStatus(ERROR, '');
    }
    spans.endRequest(span);
  }
}

/** Whether a span is of a request that the recorder ends. */
function isRequest({ flags, output, scope }: Span): boolean {
  return (
    (flags & KIND_BITS) === SERVER_BITS &&
    HTTP_SCOPE.output === output &&
    HTTP_SCOPE.number === (scope & NUMBER_MASK)
  );
}
