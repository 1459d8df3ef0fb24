import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { AsyncLocalStorage } from 'node:async_hooks';
import { contextStorage } from '../../../spans/context/context-storage.js';
import { extract } from '../../../spans/propagation.js';
import type { SpanValue } from '../../../spans/attributes.js';
import type { Span } from '../../../spans/span.js';
import { startSpan } from '../../../spans/spans.js';
import type { Exchange, ServerRecorder } from '../exchange.js';
import { pathOf } from '../url-path.js';
import * as http from './conventions.js';
import type { PropagationPolicy } from './propagation-policy.js';

const ERROR = 2;

/** Records server requests as spans of traces, which are active in the handlers. */
export class SpanRecorder implements ServerRecorder {
  readonly #policy: PropagationPolicy;
  readonly #storage: AsyncLocalStorage<object | undefined> = contextStorage();

  constructor(policy: PropagationPolicy) {
    this.#policy = policy;
  }

  start(exchange: Exchange, request: IncomingMessage, socket: Socket): void {
    const { headers } = request;
    const method = request.method ?? '';
    const known = http.knownMethod(method);
    const attributes: Record<string, SpanValue> = {
      [http.METHOD]: known,
      [http.PATH]: pathOf(request.url ?? ''),
      [http.SCHEME]: 'encrypted' in socket ? 'https' : 'http',
      [http.PROTOCOL_VERSION]: http.protocolVersion(request),
    };
    if (known === http.OTHER) attributes[http.ORIGINAL_METHOD] = method;
    const authority = http.hostAndPort(headers.host);
    if (authority !== undefined) {
      attributes[http.ADDRESS] = authority.host;
      if (authority.port !== undefined) attributes[http.PORT] = authority.port;
    }
    const remote =
      headers['traceparent'] === undefined && headers['baggage'] === undefined
        ? undefined
        : extract(headers);
    if (remote !== undefined) remote.trusted = this.#policy.trusts(socket.remoteAddress);
    const name = http.spanName(method);
    const span = startSpan(name, attributes, { kind: 'server', parent: remote ?? null });
    // Also if it is not recorded: on a connection that is kept the span of the request before is active.
    this.#storage.enterWith(span);
    exchange.span = span;
  }

  answered(exchange: Exchange, bytes: number | undefined): void {
    const { span, response } = exchange;
    if (span === undefined) return;
    const { statusCode } = response;
    span.set(http.STATUS_CODE, statusCode);
    if (bytes !== undefined) span.set(http.RESPONSE_BYTES, bytes);
    if (statusCode >= 500) {
      span.set(http.ERROR_TYPE, String(statusCode));
      span.setStatus(ERROR, '');
    }
    this.#end(exchange, span);
  }

  aborted(exchange: Exchange): void {
    const { span, response } = exchange;
    if (span === undefined) return;
    if (response.headersSent) span.set(http.STATUS_CODE, response.statusCode);
    span.set(http.ERROR_TYPE, http.ABORTED);
    span.setStatus(ERROR, '');
    this.#end(exchange, span);
  }

  #end({ method, route }: Exchange, span: Span): void {
    if (route !== '') {
      span.set(http.ROUTE, route);
      span.rename(`${http.spanName(method)} ${route}`);
    }
    span.end();
  }
}
