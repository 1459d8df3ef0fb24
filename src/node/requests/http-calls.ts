import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { Guard } from '../guard.js';
import type { Call, CallRecorder } from './call-recorder.js';
import { callTarget } from './call-target.js';
import type { CallTarget } from './call-target.js';
import { failureOf, TIMEOUT } from './call-failures.js';
import { ABORTED, hostAndPort } from './conventions.js';
import { replaceMethod } from './emit-in-context.js';
import { withHeaders } from './request-headers.js';
import { observeHeaders } from './stored-headers.js';
import { watchTimeouts } from './socket-timeouts.js';

const CALL = Symbol('tracewright.call');
/** The bytes that its socket had received when its event `timeout` came. */
const TIMED_OUT = Symbol('tracewright.timedOut');
const NS_PER_MS = 1e6;

/** Null: the call is left out. */
type TracedRequest = ClientRequest & { [CALL]?: Call | null; [TIMED_OUT]?: number };
type TracedResponse = IncomingMessage & { [CALL]?: Call; req?: TracedRequest };

interface ClientMessage {
  request: TracedRequest;
  response: TracedResponse;
  error?: unknown;
}

interface PartialAgent {
  defaultPort?: unknown;
  options?: { socketPath?: unknown };
}

/** Parts of a request that Node does not document. */
interface Connecting {
  readonly socketPath?: string | undefined;
  readonly agent?: PartialAgent | false | undefined;
  readonly [part: symbol]: unknown;
}

/** Where Node 24 and later keep host and port of the connection. Null: it does not. */
let authorityKey: symbol | null | undefined;

function findAuthorityKey(request: ClientRequest): symbol | null {
  const isKey = ({ description }: symbol): boolean => description === 'kAuthority';
  return Object.getOwnPropertySymbols(request).find(isKey) ?? null;
}

/** The host as a URL has it. */
function inUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function withoutBrackets(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

/**
 * Host and port of the connection, but for the usual port; undefined: the port is not known. The header `Host` may be
 * of another server, and before Node 24 nothing else has the port.
 */
function authorityOf(request: ClientRequest): string | undefined {
  authorityKey ??= findAuthorityKey(request);
  const kept = authorityKey === null ? undefined : (request as unknown as Connecting)[authorityKey];
  if (typeof kept === 'string') return kept;
  const header = request.getHeader('host');
  // Agents for tunnels name the target of CONNECT there.
  const isTarget = request.method === 'CONNECT' && header === request.path;
  const authority = typeof header === 'string' && !isTarget ? header : undefined;
  return hostAndPort(authority)?.host === withoutBrackets(request.host) ? authority : undefined;
}

function targetOf(request: ClientRequest): CallTarget {
  const { method, path, protocol } = request;
  const isSecure = protocol === 'https:';
  const scheme = isSecure ? 'https' : 'http';
  const { socketPath, agent } = request as unknown as Connecting;
  const socket = socketPath ?? (agent === false ? undefined : agent?.options?.socketPath);
  if (typeof socket === 'string') {
    return callTarget(method, scheme, inUrl(request.host), path, socket);
  }
  const authority = authorityOf(request);
  if (authority === undefined)
    return callTarget(method, scheme, '', path, withoutBrackets(request.host));
  const port = agent === false ? undefined : agent?.defaultPort;
  const lacksPort =
    typeof port === 'number' &&
    port !== (isSecure ? 443 : 80) &&
    hostAndPort(authority)?.port === undefined;
  const whole = lacksPort ? `${authority}:${port}` : authority;
  return callTarget(method, scheme, whole, path, undefined);
}

/** The sockets that have no room for a request, because its agent may open no more; undefined: it has one. */
function queueOf(request: ClientRequest): readonly unknown[] | undefined {
  const { agent } = request as { agent?: Partial<Agent> | false };
  if (typeof agent !== 'object') return undefined;
  const { requests, sockets } = agent;
  // It has no names as a rule.
  for (const name in requests) {
    const queue: unknown = requests[name];
    if (Array.isArray(queue) && queue.lastIndexOf(request) !== -1) return sockets?.[name] ?? [];
  }
  return undefined;
}

/** Why the program has ended a request; undefined: it has given it up. */
function reasonOf(request: TracedRequest | undefined): string | undefined {
  const received = request?.[TIMED_OUT];
  if (received === undefined) return undefined;
  return received === request?.socket?.bytesRead ? TIMEOUT : undefined;
}

/** The `error.type` of a request that ends with an error; undefined: the program has given it up. */
function failureOfRequest(request: TracedRequest, error: unknown): string | undefined {
  // Node's own error for both: the peer has hung up, or the program.
  const isHungUp = (error as { message?: unknown } | null)?.message === 'socket hang up';
  return isHungUp && request.destroyed ? reasonOf(request) : failureOf(error);
}

/** The `error.type` of a request whose answer is not complete; undefined: the program has given it up. */
function failureOfBody({ req, socket }: TracedResponse): string | undefined {
  // Only the socket knows who has closed it. One that fails has published its error.
  return (socket as Partial<typeof socket> | null)?.readableEnded === true
    ? ABORTED
    : reasonOf(req);
}

/**
 * Records every request that node:http and node:https send from this thread, until its response's body is
 * received.
 *
 * @param sendsHeaders whether they carry the trace on.
 */
export function traceHttpCalls(recorder: CallRecorder, sendsHeaders: boolean): void {
  const guard = new Guard('outgoing HTTP requests');

  const start = (request: TracedRequest): void => {
    if (request[CALL] !== undefined) return;
    const call = recorder.start(targetOf(request), undefined) ?? null;
    request[CALL] = call;
    const others = call === null ? undefined : queueOf(request);
    if (others !== undefined) waitForSocket(request, call!, others);
  };
  const waitForSocket = (request: ClientRequest, call: Call, busy: readonly unknown[]): void => {
    const { isHeldBy, linkHolder, noteHolder } =
      require('../../libraries/engine/connection-holders.js') as typeof import('../../libraries/engine/connection-holders.js');
    for (const socket of busy as { _httpMessage?: TracedRequest | null }[]) {
      const other: Call | null | undefined = socket._httpMessage?.[CALL];
      const holder = other?.span;
      if (holder?.output === undefined || isHeldBy(socket, holder)) continue;
      const age = holder.output.timeOf(undefined) - holder.start;
      noteHolder(socket, holder, performance.now() - age / NS_PER_MS);
    }
    call.queue();
    // A request that is given up in the queue has no other end: it never starts.
    const givenUp = (): void => {
      whenRequestCloses(request);
    };
    request.once('close', givenUp);
    const connected = guard.wrap<unknown>((socket) => {
      request.off('close', givenUp);
      const wait = call.connect();
      if (wait === undefined) return;
      linkHolder(socket, wait);
      noteHolder(socket, call.span);
      wait.end();
    });
    request.once('socket', connected);
  };
  const whenResponseCloses = guard.wrap<TracedResponse>((response) => {
    response[CALL]?.end(response.complete ? undefined : failureOfBody(response));
  });
  const whenRequestCloses = guard.wrap<TracedRequest>((request) => {
    const { res } = request as { res?: TracedResponse | null };
    if (res === undefined || res === null) request[CALL]?.end(reasonOf(request));
    // The response ends the call, unless it was handed over with its connection.
    else if (res[CALL] === undefined) endWithConnection(request, res);
    // Nobody has read it to its end, so it never closes.
    else if (res.complete) whenResponseCloses(res);
  });
  /**
   * Agents for tunnels remove all listeners of a request that has its connection. Those of the connection follow it.
   */
  const watchTunnel = (request: TracedRequest): void => {
    type Emit = typeof request.emit;
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
    const { emit } = request;
    replaceMethod(request, 'emit', function (this: TracedRequest, ...event: Parameters<Emit>) {
      const isEmitted = emit.apply(this, event);
      if (event[0] === 'connect') connected({ request, response: event[1] as TracedResponse });
      return isEmitted;
    });
  };
  const connected = guard.wrap<ClientMessage>(({ request, response }) => {
    endWithConnection(request, response);
  });
  const endWithConnection = (request: TracedRequest, response: TracedResponse): void => {
    const call = request[CALL];
    if (call == null) return;
    call.answered(response.statusCode ?? 0);
    const { socket } = response as { socket?: IncomingMessage['socket'] };
    if (socket === undefined || socket.destroyed) {
      call.end();
      return;
    }
    const close = guard.wrap<undefined>(() => {
      call.end();
    });
    socket.once('close', () => {
      close(undefined);
    });
  };

  if (sendsHeaders) {
    observeHeaders((request: TracedRequest, headers) => {
      if (!guard.on) return headers;
      try {
        start(request);
        const call = request[CALL];
        if (call == null) return headers;
        return withHeaders(request, headers, (all) => {
          recorder.send(call, all);
        });
      } catch (error) {
        guard.fail(error);
        return headers;
      }
    });
  }
  // It begins where the program has made it. Node 20 does not publish that.
  guard.subscribe('http.client.request.created', ({ request }: ClientMessage) => {
    start(request);
  });
  guard.subscribe('http.client.request.start', ({ request }: ClientMessage) => {
    start(request);
    if (request.method === 'CONNECT') watchTunnel(request);
    request.on('close', () => {
      whenRequestCloses(request);
    });
  });
  guard.subscribe('http.client.response.finish', ({ request, response }: ClientMessage) => {
    const call = request[CALL];
    if (call == null) return;
    // Published at the headers; the body is still to come.
    call.answered(response.statusCode ?? 0);
    response[CALL] = call;
    response.on('close', () => {
      whenResponseCloses(response);
    });
  });
  guard.subscribe('http.client.request.error', ({ request, error }: ClientMessage) => {
    request[CALL]?.end(failureOfRequest(request, error));
  });
  watchTimeouts((request: TracedRequest, received) => {
    if (request[CALL] !== undefined) request[TIMED_OUT] = received;
  });
}
