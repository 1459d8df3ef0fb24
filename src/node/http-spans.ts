import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Span } from '../heph/span.js';
import type { Timing } from '../heph/stream.js';
import { Guard } from './guard.js';
import type { RequestsInFlight } from './requests-in-flight.js';
import type { SpanStream } from './span-stream.js';
import { bounded, pathOf } from './url-path.js';

const EXCHANGE = Symbol('tracewright.exchange');
const CONNECTION = Symbol('tracewright.connection');

type TracedResponse = ServerResponse & { [EXCHANGE]?: Exchange };
type TracedSocket = Socket & { [CONNECTION]?: Connection };

/** What Node publishes on both channels of the HTTP server. */
interface ServerMessage {
  request: IncomingMessage;
  response: TracedResponse;
  socket: TracedSocket;
}

/** What a router leaves on the request (express and its like). */
interface RoutedRequest {
  baseUrl?: unknown;
  route?: { path?: unknown };
}

/** What fastify publishes once it knows the route. */
interface FastifyMessage {
  reply?: { raw?: TracedResponse };
  route?: { url?: unknown };
}

/** A request on its way, in the list of those that its connection has open. */
class Exchange {
  readonly timing: Timing | undefined;
  readonly method: string;
  /** Frameworks rewrite the request's own, so it is kept from the start. */
  readonly url: string;
  readonly response: ServerResponse;
  route = '';
  open = true;
  previous: Exchange | undefined = undefined;
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

/** The requests that a connection has open: more than one only where the client pipelines. */
class Connection {
  first: Exchange | undefined = undefined;
  /** Bytes that had been written when the last response was finished. */
  written: number;

  constructor(written: number) {
    this.written = written;
  }

  add(exchange: Exchange): void {
    exchange.next = this.first;
    if (this.first !== undefined) this.first.previous = exchange;
    this.first = exchange;
  }

  remove(exchange: Exchange): void {
    exchange.open = false;
    if (exchange.previous === undefined) this.first = exchange.next;
    else exchange.previous.next = exchange.next;
    if (exchange.next !== undefined) exchange.next.previous = exchange.previous;
  }
}

const ANSWERED = [
  ['method', 'string'],
  ['path', 'string'],
  ['status', 'u64'],
  ['bytes', 'u64'],
] as const;
const ROUTED = [['route', 'string'], ...ANSWERED] as const;
const ABORTED = [
  ['method', 'string'],
  ['path', 'string'],
  ['status', 'u64'],
  ['aborted', 'u64'],
] as const;

/** The three shapes of a request's span. */
class RequestSpans {
  readonly #output: SpanStream;
  readonly #answered: Span<typeof ANSWERED>;
  readonly #routed: Span<typeof ROUTED>;
  readonly #aborted: Span<typeof ABORTED>;

  constructor(output: SpanStream) {
    this.#output = output;
    this.#answered = output.stream.span('request', ANSWERED);
    this.#routed = output.stream.span('request', ROUTED);
    this.#aborted = output.stream.span('request', ABORTED);
  }

  answered(exchange: Exchange, bytes: number): void {
    const { timing, method, route, response } = exchange;
    const path = pathOf(exchange.url);
    const substream = this.#output.nextSubstream();
    if (route === '') {
      this.#answered.finishIn(substream, timing, method, path, response.statusCode, bytes);
    } else {
      this.#routed.finishIn(substream, timing, route, method, path, response.statusCode, bytes);
    }
  }

  aborted(exchange: Exchange): void {
    const { timing, method, response } = exchange;
    const status = response.headersSent ? response.statusCode : 0;
    const substream = this.#output.nextSubstream();
    this.#aborted.finishIn(substream, timing, method, pathOf(exchange.url), status, 1);
  }
}

/** The pattern that a router matched, if the request went through one that says. */
function routeOf(request: IncomingMessage & RoutedRequest): string {
  const path = request.route?.path;
  if (typeof path !== 'string') return '';
  const { baseUrl } = request;
  return bounded(typeof baseUrl === 'string' ? baseUrl + path : path);
}

/** The HTTP server requests of one thread. */
class ServerRequests {
  readonly #output: SpanStream | undefined;
  readonly #inFlight: RequestsInFlight | undefined;
  readonly #guard = new Guard('HTTP requests');
  /** Made with the first request; see SpanStream. */
  #spans: RequestSpans | undefined;
  readonly #whenClosed: (this: TracedSocket) => void;

  constructor(output: SpanStream | undefined, inFlight: RequestsInFlight | undefined) {
    this.#output = output;
    this.#inFlight = inFlight;
    const close = this.#guard.wrap<TracedSocket>((socket) => {
      this.#closed(socket);
    });
    this.#whenClosed = function () {
      close(this);
    };
    this.#guard.subscribe('http.server.request.start', (message: ServerMessage) => {
      this.#started(message);
    });
    this.#guard.subscribe('http.server.response.finish', (message: ServerMessage) => {
      this.#finished(message);
    });
    this.#guard.subscribe(
      'tracing:fastify.request.handler:start',
      ({ reply, route }: FastifyMessage) => {
        const exchange = reply?.raw?.[EXCHANGE];
        if (exchange !== undefined && typeof route?.url === 'string') {
          exchange.route = bounded(route.url);
        }
      },
    );
  }

  #started({ request, response, socket }: ServerMessage): void {
    const connection = socket[CONNECTION] ?? this.#adopt(socket);
    this.#inFlight?.begin();
    const output = this.#output;
    if (output !== undefined) this.#spans ??= new RequestSpans(output);
    const exchange = new Exchange(output?.stream.startTrace(), request, response);
    response[EXCHANGE] = exchange;
    connection.add(exchange);
  }

  #adopt(socket: TracedSocket): Connection {
    const connection = new Connection(bytesWritten(socket));
    socket[CONNECTION] = connection;
    socket.on('close', this.#whenClosed);
    return connection;
  }

  #finished({ request, response, socket }: ServerMessage): void {
    const exchange = response[EXCHANGE];
    const connection = socket[CONNECTION];
    if (exchange === undefined || connection === undefined || !exchange.open) return;
    connection.remove(exchange);
    this.#inFlight?.end();
    if (this.#spans === undefined) return;
    const written = bytesWritten(socket);
    const bytes = written - connection.written;
    connection.written = written;
    if (exchange.route === '') exchange.route = routeOf(request);
    this.#spans.answered(exchange, bytes);
  }

  /** What is open now will never be answered. */
  #closed(socket: TracedSocket): void {
    const connection = socket[CONNECTION];
    for (let left = connection?.first; left !== undefined; left = connection?.first) {
      connection?.remove(left);
      this.#inFlight?.end();
      this.#spans?.aborted(left);
    }
  }
}

/**
 * Records every request that an HTTP server of this thread receives, as a span `request` with
 * `method`, `path` (without query), `status` and `bytes` (what was written to the socket, headers
 * included), and `route` where a router tells. A request that was not answered in full has
 * `aborted` 1 instead of `bytes`, and `status` 0 when not even headers were sent.
 *
 * A span is written when it ends, so requests that are open when the process ends leave none.
 * HTTP/2 servers and upgraded connections publish nothing, and are not recorded.
 *
 * @param output where spans go, if anywhere.
 * @param inFlight where the number of open requests goes, if anywhere.
 */
export function traceServerRequests(
  output: SpanStream | undefined,
  inFlight: RequestsInFlight | undefined,
): void {
  new ServerRequests(output, inFlight);
}
