import * as diagnostics from 'node:diagnostics_channel';
import { SOCKETLESS } from '../channel-names.js';

/** A request that no socket has received: the program, a test or an adapter hands it to the application. */
export interface SocketlessRequest {
  readonly method: string;
  readonly url: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The object on which routers leave the route. */
  readonly request: object;
  /** The response; undefined: the value that serving it returns, or its promise. */
  readonly response: unknown;
  /** Of what records it: calls `serve` below the span of the request. */
  run?: <Result>(serve: () => Result) => Result;
}

const channel = diagnostics.channel(SOCKETLESS);

/** Serves a request, and has it recorded. */
export function serveRecorded<Result>(
  describe: () => SocketlessRequest,
  serve: () => Result,
): Result {
  let message: SocketlessRequest | undefined;
  if (channel.hasSubscribers) {
    try {
      message = describe();
      channel.publish(message);
    } catch {
      // It has another form than that of a request.
    }
  }
  return message?.run === undefined ? serve() : message.run(serve);
}

interface NodeRequest {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** The same of a request as those of Node's server. */
export function serveNodeRequest<Result>(
  request: NodeRequest,
  response: unknown,
  serve: () => Result,
): Result {
  const describe = (): SocketlessRequest => {
    const { method = 'GET', url = '/', headers = {} } = request;
    return { method, url, headers, request, response };
  };
  return serveRecorded(describe, serve);
}

/** The object that a web request is served by: a request of Node, or the request itself. */
const SERVED_BY = Symbol.for('tracewright.servedBy');

/** The object that the route of a web request is left on. */
export function servedBy(request: object): object {
  return (request as { [SERVED_BY]?: object })[SERVED_BY] ?? request;
}

/** A web request is one that a server has received. */
export function markServed(request: object, by: object): void {
  (request as { [SERVED_BY]?: object })[SERVED_BY] = by;
}

/** As `srvx` has it. */
interface ReceivedRequest {
  readonly runtime?: { readonly node?: { readonly req?: object } };
}

/** The same of a web request, unless it is one that is being served. */
export function serveWebRequest<Result>(request: unknown, serve: () => Result): Result {
  if (!(request instanceof Request) || SERVED_BY in request) return serve();
  const node = (request as ReceivedRequest).runtime?.node?.req;
  if (node !== undefined) {
    markServed(request, node);
    return serve();
  }
  const describe = (): SocketlessRequest => {
    markServed(request, request);
    const { method, url } = request;
    const { host, pathname } = new URL(url);
    const headers = { host, ...Object.fromEntries(request.headers) };
    return { method, url: pathname, headers, request, response: undefined };
  };
  return serveRecorded(describe, serve);
}
