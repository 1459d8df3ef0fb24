import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { Guard } from '../guard.js';
import type { Call, CallHeaders, CallRecorder, CallTarget } from './call-recorder.js';
import { ABORTED, failureOf } from './conventions.js';

const CALL = Symbol('tracewright.call');
const NS_PER_MS = 1e6;

type TracedRequest = ClientRequest & { [CALL]?: Call | undefined };
type TracedResponse = IncomingMessage & { [CALL]?: Call };

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
    response[CALL]?.end(response.complete ? undefined : ABORTED);
  });
  const whenRequestCloses = guard.wrap<TracedRequest>((request) => {
    const { res } = request as { res?: TracedResponse | null };
    if (res === undefined || res === null) request[CALL]?.end(ABORTED);
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
    request[CALL]?.end(failureOf(error));
  });
}
