import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RouterMatch } from '../../libraries/engine/router-matches.js';
import type { Span } from '../../spans/span.js';

/** A request that a server of this thread has received, until it is answered. */
export interface ServedRequest {
  readonly method: string;
  /** As it came, without what may be secret; undefined: it is not known. */
  readonly path?: string;
  /** Undefined: it is not recorded. */
  span: Span | undefined;
  /** The pattern that it has matched; empty: none is known. */
  route: string;
  /** The route that the record of the open request has. */
  keptRoute: string;
  /** The pattern that a router has matched for good. */
  matched: RouterMatch | undefined;
}

/** Of a socket: what its connection has open. */
export const CONNECTION = Symbol('tracewright.connection');

export type TracedSocket = Socket & { [CONNECTION]?: Connection };

/** The message on both channels of the HTTP server. */
export interface ServerMessage {
  request: IncomingMessage;
  response: ServerResponse;
  socket: TracedSocket;
}

/** A request of HTTP/1 on its way, in the list of those that its connection has open. */
export class Exchange implements ServedRequest {
  readonly method: string;
  readonly response: ServerResponse;
  /** Frameworks rewrite the request's URL, so it is kept from the start. Empty: only the number of requests counts. */
  path = '';
  span: Span | undefined = undefined;
  route = '';
  keptRoute = '';
  /** Whether `setRoute` was called for it. */
  isGiven = false;
  /** The pattern that a router has matched for good. */
  matched: RouterMatch | undefined = undefined;
  next: Exchange | undefined = undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.method = request.method ?? '';
    this.response = response;
  }
}

/**
 * The requests that a connection has open, oldest first; more than one only where the client
 * pipelines. They hang off the socket and not off their responses: a property more on an object that
 * Node makes for every request costs Node more than it costs us.
 */
export class Connection {
  /** Bytes that had been written when the last response was finished. */
  written: number;
  /** The span of the last request that has begun: what the parser reads is of it. */
  received: Span | undefined = undefined;
  #oldest: Exchange | undefined = undefined;
  /** Only where there are several: most connections never have to keep it. */
  #last: Exchange | undefined = undefined;

  constructor(written: number) {
    this.written = written;
  }

  get oldest(): Exchange | undefined {
    return this.#oldest;
  }

  add(exchange: Exchange): void {
    if (this.#oldest === undefined) {
      this.#oldest = exchange;
      return;
    }
    (this.#last ?? this.#oldest).next = exchange;
    this.#last = exchange;
  }

  /** The open exchange of a request. */
  ofRequest(request: object): Exchange | undefined {
    let exchange = this.#oldest;
    while (exchange !== undefined && exchange.response.req !== request) exchange = exchange.next;
    return exchange;
  }

  /** Takes out what a response answers: the oldest, for HTTP/1 answers in turn. */
  take(response: ServerResponse): Exchange | undefined {
    let before: Exchange | undefined;
    let exchange = this.#oldest;
    while (exchange !== undefined && exchange.response !== response) {
      before = exchange;
      exchange = exchange.next;
    }
    if (exchange === undefined) return undefined;
    if (before === undefined) this.#oldest = exchange.next;
    else before.next = exchange.next;
    if (exchange === this.#last) this.#last = before;
    return exchange;
  }
}
