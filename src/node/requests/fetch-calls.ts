import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { BoundedCache } from '../../core/bounded-cache.js';
import { Guard } from '../guard.js';
import type { Call, CallHeaders, CallRecorder, CallTarget } from './call-recorder.js';
import { failureOf } from './conventions.js';

const CALL = Symbol('tracewright.call');
const OF_UNDICI = Symbol('tracewright.undici');

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

type UndiciSocket = Socket & { [OF_UNDICI]?: true };

interface UndiciMessage {
  request: UndiciRequest;
  response?: { statusCode?: number };
  socket?: Socket;
  error?: unknown;
}

interface Origin {
  readonly scheme: string;
  readonly authority: string;
}

/** Origins that are kept, and how long they may be. */
const KEPT = 64;
const MAX_ORIGIN = 256;

const origins = new BoundedCache<Origin>(KEPT, MAX_ORIGIN, (origin) => {
  const [, scheme = '', authority = ''] = /^(https?):\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(origin) ?? [];
  return { scheme, authority };
});

function targetOf({ method, origin, path }: UndiciRequest): CallTarget {
  const { scheme, authority } = origins.of(String(origin));
  return { method: String(method), scheme, authority, path: String(path) };
}

class UndiciHeaders implements CallHeaders {
  readonly #request: UndiciRequest;

  constructor(request: UndiciRequest) {
    this.#request = request;
  }

  has(name: string): boolean {
    const { headers } = this.#request;
    if (typeof headers === 'string') return new RegExp(`^${name}:`, 'im').test(headers);
    if (!Array.isArray(headers)) return false;
    for (let i = 0; i < headers.length; i++) {
      const each = headers[i] as unknown;
      if (typeof each !== 'string' || each.length !== name.length) continue;
      if (each === name || each.toLowerCase() === name) return true;
    }
    return false;
  }

  set(name: string, value: string): void {
    this.#request.addHeader?.(name, value);
  }
}

function leavesHttp({ upgrade, method }: UndiciRequest): boolean {
  return typeof upgrade === 'string' || method === 'CONNECT';
}

/** Whether undici sends this session's requests, and so announces them itself. */
export function isUndiciSession(session: ClientHttp2Session): boolean {
  try {
    // The session's proxy of its socket has what the socket has.
    return (session.socket as UndiciSocket)[OF_UNDICI] === true;
  } catch {
    // It has no socket any more.
    return false;
  }
}

/** Records every request that `fetch` and undici send from this thread, until its response's body is received. */
export function traceFetchCalls(recorder: CallRecorder): void {
  const guard = new Guard('fetch requests');
  let followsConnections = false;
  guard.subscribe('undici:request:create', ({ request }: UndiciMessage) => {
    if (!followsConnections && leavesHttp(request)) {
      followsConnections = true;
      followConnections();
    }
    request[CALL] = recorder.start(targetOf(request), new UndiciHeaders(request));
  });
  // Before the first request of a connection.
  guard.subscribe('undici:client:connected', ({ socket }: { socket?: UndiciSocket }) => {
    if (socket !== undefined) socket[OF_UNDICI] = true;
  });
  const close = guard.wrap<UndiciRequest>((request) => {
    request[CALL]?.end();
  });
  // Undici makes a message of each request for it, and hardly a program needs it.
  const followConnections = (): void => {
    guard.subscribe('undici:client:sendHeaders', ({ request, socket }: UndiciMessage) => {
      if (!leavesHttp(request)) return;
      socket?.once('close', () => {
        close(request);
      });
    });
  };
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
