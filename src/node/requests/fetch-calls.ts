import type { Socket } from 'node:net';
import { Guard } from '../guard.js';
import type { Call, CallHeaders, CallRecorder, CallTarget } from './calls.js';
import { failureOf } from './conventions.js';
import { noteUndiciConnection } from './undici-connections.js';

const CALL = Symbol('tracewright.call');

/** The parts of undici's request that its channels document. */
interface UndiciRequest {
  [CALL]?: Call;
  origin?: unknown;
  path?: unknown;
  method?: unknown;
  /** A flat list, or the text that is sent. */
  headers?: unknown;
  /** `websocket`: the connection leaves HTTP, and nothing is published of the request any more. */
  upgrade?: unknown;
  addHeader?: (name: string, value: string) => unknown;
}

interface UndiciMessage {
  request: UndiciRequest;
  response?: { statusCode?: number };
  socket?: Socket;
  error?: unknown;
}

function targetOf({ method, origin, path }: UndiciRequest): CallTarget {
  const [, scheme = '', authority = ''] =
    /^(https?):\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(String(origin)) ?? [];
  return { method: String(method), scheme, authority, path: String(path) };
}

function headersOf(request: UndiciRequest): CallHeaders {
  return {
    has(name) {
      const { headers } = request;
      if (typeof headers === 'string') return new RegExp(`^${name}:`, 'im').test(headers);
      if (!Array.isArray(headers)) return false;
      return headers.some((each) => typeof each === 'string' && each.toLowerCase() === name);
    },
    set(name, value) {
      request.addHeader?.(name, value);
    },
  };
}

/**
 * Records every request that `fetch` and undici send from this thread, until its response's body is received.
 *
 * @param open called with the first request: how they are recorded.
 */
export function traceFetchCalls(open: () => CallRecorder): void {
  const guard = new Guard('fetch requests');
  let recorder: CallRecorder | undefined;
  guard.subscribe('undici:request:create', ({ request }: UndiciMessage) => {
    recorder ??= open();
    request[CALL] = recorder.start(targetOf(request), headersOf(request));
  });
  guard.subscribe('undici:client:connected', ({ socket }: { socket?: Socket }) => {
    noteUndiciConnection(socket);
  });
  const close = guard.wrap<UndiciRequest>((request) => {
    request[CALL]?.end();
  });
  guard.subscribe('undici:client:sendHeaders', ({ request, socket }: UndiciMessage) => {
    if (typeof request.upgrade !== 'string' && request.method !== 'CONNECT') return;
    socket?.once('close', () => {
      close(request);
    });
  });
  guard.subscribe('undici:request:headers', ({ request, response }: UndiciMessage) => {
    request[CALL]?.answered(response?.statusCode ?? 0);
  });
  guard.subscribe('undici:request:trailers', ({ request }: UndiciMessage) => {
    request[CALL]?.end();
  });
  guard.subscribe('undici:request:error', ({ request, error }: UndiciMessage) => {
    request[CALL]?.end(failureOf(error));
  });
}
