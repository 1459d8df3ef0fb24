import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { Guard } from '../guard.js';
import type { Call, CallHeaders, CallRecorder, CallTarget } from './call-recorder.js';
import { failureOf, TIMEOUT } from './call-failures.js';
import { ABORTED } from './conventions.js';
import { watchTimeouts } from './socket-timeouts.js';

const CALL = Symbol('tracewright.call');
/** What its socket had received when its event `timeout` came. */
const TIMED_OUT = Symbol('tracewright.timedOut');
const NS_PER_MS = 1e6;

type TracedRequest = ClientRequest & { [CALL]?: Call | undefined; [TIMED_OUT]?: number };
type TracedResponse = IncomingMessage & { [CALL]?: Call; req?: TracedRequest };

interface ClientMessage {
  request: TracedRequest;
  response: TracedResponse;
  error?: unknown;
}

function targetOf(request: ClientRequest): CallTarget {
  const host = request.getHeader('host');
  return {
    method: request.method,
    scheme: request.protocol === 'https:' ? 'https' : 'http',
    authority: typeof host === 'string' ? host : request.host,
    path: request.path,
  };
}

function headersOf(request: ClientRequest): CallHeaders | undefined {
  if (request.headersSent) return undefined;
  return {
    get: (name) => request.getHeader(name),
    set: (name, value) => request.setHeader(name, value),
    delete: (name) => {
      request.removeHeader(name);
    },
  };
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

/** What a request has failed with that ends with an error; undefined: the program has given it up. */
function failureOfRequest(request: TracedRequest, error: unknown): string | undefined {
  // Node's own error for both: the peer has hung up, or the program.
  const isHungUp = (error as { message?: unknown } | null)?.message === 'socket hang up';
  return isHungUp && request.destroyed ? reasonOf(request) : failureOf(error);
}

/** What a request has failed with whose answer is not complete; undefined: the program has given it up. */
function failureOfBody({ req, socket }: TracedResponse): string | undefined {
  // Only the socket knows who has closed it. One that fails has published its error.
  return (socket as Partial<typeof socket> | null)?.readableEnded === true
    ? ABORTED
    : reasonOf(req);
}

/**
 * Records every request that node:http and node:https send from this thread, until its response's body is
 * received.
 */
export function traceHttpCalls(recorder: CallRecorder): void {
  const guard = new Guard('outgoing HTTP requests');

  const start = (request: TracedRequest): void => {
    if (request[CALL] !== undefined) return;
    const call = recorder.start(targetOf(request), headersOf(request));
    request[CALL] = call;
    const others = call === undefined ? undefined : queueOf(request);
    if (others !== undefined) waitForSocket(request, call!, others);
  };
  const waitForSocket = (request: ClientRequest, call: Call, busy: readonly unknown[]): void => {
    const { isHeldBy, linkHolder, noteHolder } =
      require('../../libraries/engine/connection-holders.js') as typeof import('../../libraries/engine/connection-holders.js');
    for (const socket of busy as { _httpMessage?: TracedRequest | null }[]) {
      const other: Call | undefined = socket._httpMessage?.[CALL];
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
  });
  const endWithConnection = (request: TracedRequest, response: TracedResponse): void => {
    const call = request[CALL];
    if (call === undefined) return;
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

  // What is set here is sent. Node 20 publishes nothing: see early-headers.ts.
  guard.subscribe('http.client.request.created', ({ request }: ClientMessage) => {
    start(request);
  });
  guard.subscribe('http.client.request.start', ({ request }: ClientMessage) => {
    start(request);
    request.on('close', () => {
      whenRequestCloses(request);
    });
  });
  guard.subscribe('http.client.response.finish', ({ request, response }: ClientMessage) => {
    const call = request[CALL];
    if (call === undefined) return;
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
