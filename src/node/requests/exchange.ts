import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Timing } from '../../heph/write/event-stream.js';
import type { Span } from '../../spans/span.js';

/** A request on its way, in the list of those that its connection has open. */
export class Exchange {
  /** Of a recorder without context. */
  timing: Timing | undefined = undefined;
  path = '';
  /** Of what keeps it while it is open; -1: nothing does. */
  place = -1;
  /** Of a recorder with context. */
  span: Span | undefined = undefined;
  readonly method: string;
  /** Frameworks rewrite the request's own, so it is kept from the start. */
  readonly url: string;
  readonly response: ServerResponse;
  route = '';
  /** The route that the record of the open request has. */
  keptRoute = '';
  next: Exchange | undefined = undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.method = request.method ?? '';
    this.url = request.url ?? '';
    this.response = response;
  }
}

/** How the requests that a server receives are recorded. */
export interface ServerRecorder {
  /** A request has come. */
  start(exchange: Exchange, request: IncomingMessage, socket: Socket): void;
  /** The program has said which route it matched. */
  routed?(exchange: Exchange, route: string): void;
  /** @param bytes what was written to the socket, if that is wanted. */
  answered(exchange: Exchange, bytes: number | undefined): void;
  /** It was not answered in full, and never will be. */
  aborted(exchange: Exchange): void;
}

/**
 * The requests that a connection has open, oldest first; more than one only where the client
 * pipelines. They hang off the socket and not off their responses: a property more on an object that
 * Node makes for every request costs Node more than it costs us.
 */
export class Connection {
  /** Bytes that had been written when the last response was finished. */
  written: number;
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

  find(response: object): Exchange | undefined {
    let exchange = this.#oldest;
    while (exchange !== undefined && exchange.response !== response) exchange = exchange.next;
    return exchange;
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
