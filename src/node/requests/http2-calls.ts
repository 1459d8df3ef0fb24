import type { IncomingHttpHeaders } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import { recordsGrpc } from '../../libraries/shared-grpc.js';
import { spans } from '../../spans/shared-spans.js';
import type { Span } from '../../spans/span.js';
import { Guard } from '../guard.js';
import { Call } from './call-recorder.js';
import type { CallRecorder } from './call-recorder.js';
import { callTarget } from './call-target.js';
import type { CallTarget } from './call-target.js';
import { onFirstMessage } from './channels.js';
import { hostAndPort } from './conventions.js';
import { EarlyHeaders } from './early-headers.js';
import { emitInContext } from './emit-in-context.js';
import { failureOf } from './call-failures.js';
import { isUndiciSession } from './fetch-calls.js';
import { endGrpc, followGrpcCall, isGrpc } from './grpc.js';
import { failureOfStream, watchHttp2Ends } from './http2-ends.js';

type Headers = IncomingHttpHeaders & Record<string, unknown>;

/** A request that Node is about to make. */
interface Beginning {
  /** Undefined: it is not recorded. */
  readonly call: Call | Span | undefined;
  /** Its headers, with those that were added. */
  readonly headers: unknown;
}

/** The class of sessions, which Node does not export. */
interface SessionClass {
  request: (this: ClientHttp2Session, headers?: unknown, ...rest: unknown[]) => ClientHttp2Stream;
}

/** Parts of a session that Node does not document, by the descriptions of their symbols. */
function partOf(session: ClientHttp2Session, description: string): unknown {
  const symbol = Object.getOwnPropertySymbols(session).find(
    (each) => each.description === description,
  );
  return symbol === undefined ? undefined : Reflect.get(session, symbol);
}

/** Sessions whose connection has no port. */
const withoutPort = new WeakMap<ClientHttp2Session, boolean>();

/** Whether a session's connection is a unix socket. Its path is kept nowhere. */
function isUnixSession(session: ClientHttp2Session): boolean {
  let isUnix = withoutPort.get(session);
  if (isUnix === undefined) {
    const { _handle: handle } = (partOf(session, 'socket') ?? {}) as { _handle?: object };
    isUnix = handle?.constructor.name === 'Pipe';
    withoutPort.set(session, isUnix);
  }
  return isUnix;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Undefined: they are none, or a getter of the program throws, as it will when Node reads it. */
function earlyHeaders(given: unknown): EarlyHeaders | undefined {
  if (given !== undefined && (typeof given !== 'object' || given === null)) return undefined;
  try {
    return new EarlyHeaders(given ?? {});
  } catch {
    return undefined;
  }
}

/** Where a request goes; undefined: the session does not say. */
function http2Target(
  session: ClientHttp2Session,
  headers: Pick<EarlyHeaders, 'get'>,
): CallTarget | undefined {
  const authority =
    text(headers.get(':authority')) ??
    text(headers.get('host')) ??
    text(partOf(session, 'authority'));
  if (authority === undefined) return undefined;
  const protocol = text(partOf(session, 'protocol')) ?? 'https:';
  const method = text(headers.get(':method')) ?? 'GET';
  const scheme = text(headers.get(':scheme')) ?? protocol.slice(0, -1);
  const path = text(headers.get(':path')) ?? '/';
  return isUnixSession(session)
    ? callTarget(method, scheme, authority, path, hostAndPort(authority)?.host)
    : callTarget(method, scheme, authority, path, undefined);
}

function end(call: Call | Span, failure: string | undefined): void {
  if (call instanceof Call) call.end(failure);
  else endGrpc(call, undefined, failure);
}

/** Whether the program has loaded node:http2, which takes long. */
function isLoaded(): boolean {
  const { moduleLoadList } = process as { moduleLoadList?: readonly string[] };
  return moduleLoadList?.includes('NativeModule http2') === true;
}

/**
 * The class of the sessions of clients, if the program has loaded node:http2. A session gives itself to its connection
 * before it does anything else, and gets no further. A whole one would show Node's functions for sockets and streams
 * another kind of them: with three drivers that is one more than V8 remembers, and they get slow for all.
 */
function sessionClass(): SessionClass | undefined {
  if (!isLoaded()) return undefined;
  let found: SessionClass | undefined;
  const connection = new Proxy(
    {},
    {
      set(_, __, session: object) {
        found = Object.getPrototypeOf(session) as SessionClass;
        return false;
      },
    },
  ) as Duplex;
  try {
    process
      .getBuiltinModule('node:http2')
      .connect('http://localhost', { createConnection: () => connection });
  } catch {
    // The connection has refused to be the session's.
  }
  return found;
}

/**
 * Records the requests that HTTP/2 clients of this thread send. Node has made the list of their headers when it
 * publishes them. So `request` of their sessions is wrapped, as soon as there may be one.
 */
export function traceHttp2Calls(recorder: CallRecorder, hasContext: boolean): void {
  const guard = new Guard('outgoing HTTP/2 requests');
  let beginning: Beginning | undefined;
  let wrapped: SessionClass | undefined;

  const observe = (stream: ClientHttp2Stream, call: Call | Span): void => {
    watchHttp2Ends(stream);
    if (hasContext) emitInContext(spans.activeContext(), stream);
    if (!(call instanceof Call)) {
      followGrpcCall(guard, stream, call);
      return;
    }
    let isAnswered = false;
    const onResponse = guard.wrap<Headers>((headers) => {
      isAnswered = true;
      call.answered(Number(headers[':status'] ?? 0));
    });
    const onClose = guard.wrap<undefined>(() => {
      call.end(failureOfStream(stream, isAnswered));
    });
    stream.once('response', onResponse);
    stream.once('close', () => {
      onClose(undefined);
    });
  };

  const start = (
    target: CallTarget,
    contentType: unknown,
    headers: EarlyHeaders | undefined,
  ): Call | Span | undefined => {
    if (!isGrpc(contentType)) return recorder.start(target, headers);
    return recordsGrpc() ? undefined : recorder.startGrpc(target, headers);
  };

  const begin = (session: ClientHttp2Session, given: unknown): Beginning | undefined => {
    const early = guard.on ? earlyHeaders(given) : undefined;
    if (early === undefined || isUndiciSession(session)) return undefined;
    try {
      const target = http2Target(session, early);
      if (target === undefined) return undefined;
      const call = start(target, early.get('content-type'), early);
      return { call, headers: call === undefined ? given : early.all };
    } catch (error) {
      guard.fail(error);
      return undefined;
    }
  };
  const wrapRequest = (session: SessionClass): void => {
    wrapped = session;
    const send = session.request;
    function request(
      this: ClientHttp2Session,
      headers?: unknown,
      ...rest: unknown[]
    ): ClientHttp2Stream {
      // A getter of the program may send another request meanwhile.
      const outer = beginning;
      const own = begin(this, headers);
      beginning = own;
      try {
        const stream = send.call(this, own?.headers ?? headers, ...rest);
        if (own?.call !== undefined) observe(stream, own.call);
        return stream;
      } catch (error) {
        if (own?.call !== undefined) end(own.call, failureOf(error));
        throw error;
      } finally {
        beginning = outer;
      }
    }
    const usual = Object.getOwnPropertyDescriptor(session, 'request');
    Object.defineProperty(session, 'request', { ...usual, value: request });
  };
  const wrapIfLoaded = guard.wrap<undefined>(() => {
    const found = wrapped === undefined ? sessionClass() : undefined;
    if (found !== undefined) wrapRequest(found);
  });

  interface Message {
    stream: ClientHttp2Stream;
    /** Absent if the program has passed a list. */
    headers: Headers | undefined;
  }
  guard.subscribe('http2.client.stream.created', ({ stream, headers }: Message) => {
    // What a server pushes has its number already, and is no call.
    if (beginning !== undefined || Number(stream.id) % 2 === 0) return;
    const session = stream.session as ClientHttp2Session | undefined;
    const sent = earlyHeaders(headers);
    if (session === undefined || sent === undefined || isUndiciSession(session)) return;
    if (wrapped === undefined) wrapRequest(Object.getPrototypeOf(session) as SessionClass);
    const target = http2Target(session, sent);
    const call =
      target === undefined ? undefined : start(target, sent.get('content-type'), undefined);
    if (call !== undefined) observe(stream, call);
  });
  wrapIfLoaded(undefined);
  // The program may load node:http2 later.
  if (wrapped === undefined) {
    const served = [
      'tracing:net.server.listen:asyncStart',
      'http.server.request.start',
      'http2.server.stream.start',
    ];
    onFirstMessage(served, () => {
      wrapIfLoaded(undefined);
    });
  }
}
