import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Span } from '../../heph/write/span.js';
import type { Stream, Timing } from '../../heph/write/stream.js';
import { Guard } from '../guard.js';
import type { RequestsInFlight } from '../threads/requests-in-flight.js';
import { routeOf, watchFastifyRoutes } from './routes.js';
import type { SpanStream } from './span-stream.js';
import { pathOf } from './url-path.js';

const CONNECTION = Symbol('tracewright.connection');

type TracedSocket = Socket & { [CONNECTION]?: Connection };

/** What Node publishes on both channels of the HTTP server. */
interface ServerMessage {
  request: IncomingMessage;
  response: ServerResponse;
  socket: TracedSocket;
}

/** A request on its way, in the list of those that its connection has open. */
class Exchange {
  readonly timing: Timing | undefined;
  readonly method: string;
  /** Frameworks rewrite the request's own, so it is kept from the start. */
  readonly url: string;
  readonly response: ServerResponse;
  route = '';
  next: Exchange | undefined = undefined;

  constructor(timing: Timing | undefined, request: IncomingMessage, response: ServerResponse) {
    this.timing = timing;
    this.method = request.method ?? '';
    this.url = request.url ?? '';
    this.response = response;
  }
}

/** Bytes written to a socket so far; what a program passes for one may not count. */
function bytesWritten(socket: Socket): number {
  const written: unknown = socket.bytesWritten;
  return typeof written === 'number' ? written : 0;
}

/**
 * The requests that a connection has open, oldest first; more than one only where the client
 * pipelines. They hang off the socket and not off their responses: a property more on an object that
 * Node makes for every request costs Node more than it costs us.
 */
class Connection {
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

const ANSWERED = [
  ['method', 'string'],
  ['path', 'string'],
  ['status', 'u64'],
] as const;
const ROUTED = [['route', 'string'], ...ANSWERED] as const;
const BYTES = ['bytes', 'u64'] as const;
const ABORTED = ['aborted', 'u64'] as const;

/** The shapes of a request's span. */
class RequestSpans {
  readonly stream: Stream;
  readonly #output: SpanStream;
  readonly #answered: Span<typeof ANSWERED>;
  readonly #routed: Span<typeof ROUTED>;
  readonly #answeredWithBytes: Span<readonly [...typeof ANSWERED, typeof BYTES]>;
  readonly #routedWithBytes: Span<readonly [...typeof ROUTED, typeof BYTES]>;
  readonly #aborted: Span<readonly [...typeof ANSWERED, typeof ABORTED]>;
  readonly #routedAborted: Span<readonly [...typeof ROUTED, typeof ABORTED]>;

  constructor(output: SpanStream) {
    const { stream } = output;
    this.stream = stream;
    this.#output = output;
    this.#answered = stream.span('request', ANSWERED);
    this.#routed = stream.span('request', ROUTED);
    this.#answeredWithBytes = stream.span('request', [...ANSWERED, BYTES]);
    this.#routedWithBytes = stream.span('request', [...ROUTED, BYTES]);
    this.#aborted = stream.span('request', [...ANSWERED, ABORTED]);
    this.#routedAborted = stream.span('request', [...ROUTED, ABORTED]);
  }

  answered({ timing, method, url, route, response }: Exchange): void {
    const substream = this.#output.nextSubstream();
    const { statusCode } = response;
    if (route === '') {
      this.#answered.finishIn(substream, timing, method, pathOf(url), statusCode);
    } else {
      this.#routed.finishIn(substream, timing, route, method, pathOf(url), statusCode);
    }
  }

  answeredWithBytes({ timing, method, url, route, response }: Exchange, bytes: number): void {
    const substream = this.#output.nextSubstream();
    const path = pathOf(url);
    const { statusCode } = response;
    if (route === '') {
      this.#answeredWithBytes.finishIn(substream, timing, method, path, statusCode, bytes);
    } else {
      this.#routedWithBytes.finishIn(substream, timing, route, method, path, statusCode, bytes);
    }
  }

  aborted(exchange: Exchange): void {
    const { timing, method, url, route, response } = exchange;
    const path = pathOf(url);
    const status = response.headersSent ? response.statusCode : 0;
    const substream = this.#output.nextSubstream();
    if (route === '') {
      this.#aborted.finishIn(substream, timing, method, path, status, 1);
    } else {
      this.#routedAborted.finishIn(substream, timing, route, method, path, status, 1);
    }
  }
}

/** The HTTP server requests of one thread. */
class ServerRequests {
  readonly #output: SpanStream | undefined;
  readonly #inFlight: RequestsInFlight | undefined;
  readonly #withBytes: boolean;
  readonly #guard = new Guard('HTTP requests');
  readonly #opening = new Guard('HTTP requests');
  /** Made with the first request; see SpanStream. */
  #spans: RequestSpans | undefined;
  readonly #whenClosed: (this: TracedSocket) => void;

  constructor(
    output: SpanStream | undefined,
    inFlight: RequestsInFlight | undefined,
    withBytes: boolean,
  ) {
    this.#output = output;
    this.#inFlight = inFlight;
    this.#withBytes = withBytes;
    const close = this.#guard.wrap<TracedSocket>((socket) => {
      this.#closed(socket);
    });
    this.#whenClosed = function () {
      close(this);
    };
    // Guarded in place: Guard's own function around each would be a call more for every request.
    const guard = this.#guard;
    subscribe('http.server.request.start', (message) => {
      if (!guard.on) return;
      try {
        this.#started(message as ServerMessage);
      } catch (error) {
        guard.fail(error);
      }
    });
    subscribe('http.server.response.finish', (message) => {
      if (!guard.on) return;
      try {
        this.#finished(message as ServerMessage);
      } catch (error) {
        guard.fail(error);
      }
    });
    watchFastifyRoutes(this.#guard, (response, route) => {
      const { socket } = response.req as { socket?: TracedSocket };
      if (socket === undefined) return;
      const exchange = socket[CONNECTION]?.find(response);
      if (exchange !== undefined) exchange.route = route;
    });
  }

  #started({ request, response, socket }: ServerMessage): void {
    const connection = socket[CONNECTION] ?? this.#adopt(socket);
    this.#inFlight?.begin();
    const output = this.#output;
    if (output !== undefined && this.#spans === undefined) this.#openSpans(output);
    connection.add(new Exchange(this.#spans?.stream.startTrace(), request, response));
  }

  /** Without spans for now, requests are kept in mind all the same: others count on it. */
  #openSpans(output: SpanStream): void {
    const guard = this.#opening;
    if (!guard.on) return;
    try {
      this.#spans = new RequestSpans(output);
    } catch (error) {
      guard.fail(error);
    }
  }

  #adopt(socket: TracedSocket): Connection {
    const connection = new Connection(this.#withBytes ? bytesWritten(socket) : 0);
    socket[CONNECTION] = connection;
    socket.on('close', this.#whenClosed);
    return connection;
  }

  #finished({ request, response, socket }: ServerMessage): void {
    const connection = socket[CONNECTION];
    const exchange = connection?.take(response);
    if (connection === undefined || exchange === undefined) return;
    this.#inFlight?.end();
    const spans = this.#spans;
    if (spans === undefined) return;
    if (exchange.route === '') exchange.route = routeOf(request, exchange.url);
    if (!this.#withBytes) {
      spans.answered(exchange);
      return;
    }
    const written = bytesWritten(socket);
    spans.answeredWithBytes(exchange, written - connection.written);
    connection.written = written;
  }

  /** What is open now will never be answered. */
  #closed(socket: TracedSocket): void {
    const connection = socket[CONNECTION];
    if (connection === undefined) return;
    for (let left = connection.oldest; left !== undefined; left = connection.oldest) {
      connection.take(left.response);
      this.#inFlight?.end();
      if (left.route === '') left.route = routeOf(left.response.req, left.url);
      this.#spans?.aborted(left);
    }
  }
}

/**
 * Records every request that an HTTP server of this thread receives, as a span `request` with
 * `method`, `path` (without query) and `status`, and with `route` first if a router reports it. A
 * request that was not answered in full has `aborted` 1 at the end, and `status` 0 when not even
 * headers were sent.
 *
 * A span is written when it ends, so requests that are open when the process ends leave none.
 * HTTP/2 servers and upgraded connections publish nothing, and are not recorded.
 *
 * @param output where spans go, if anywhere.
 * @param inFlight where the number of open requests goes, if anywhere.
 * @param withBytes adds `bytes`, what was written to the socket, headers included. Node adds that up
 *   anew whenever it is asked, which costs more than the span itself.
 */
export function traceServerRequests(
  output: SpanStream | undefined,
  inFlight: RequestsInFlight | undefined,
  withBytes: boolean,
): void {
  new ServerRequests(output, inFlight, withBytes);
}
