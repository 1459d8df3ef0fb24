import type { IncomingHttpHeaders } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import { Guard } from '../../guard.js';
import type { Call, CallRecorder } from '../calls.js';
import { onFirstMessage } from '../channels.js';
import { failureOf } from '../conventions.js';
import { isUndiciSession } from '../undici-connections.js';
import { earlyHeaders, http2Target, sessionClass } from './http2-headers.js';
import type { SessionClass } from './http2-headers.js';

type Headers = IncomingHttpHeaders & Record<string, unknown>;

const NO_ERROR = 0;
/** What a caller resets a stream with that it needs no more. */
const CANCEL = 8;

/** A request that Node is about to make. */
interface Beginning {
  readonly call: Call;
  /** Its headers, with those that were added. */
  readonly headers: unknown;
}

/**
 * Records the requests that HTTP/2 clients of this thread send. Node has made the list of their headers when it
 * publishes them. So `request` of their sessions is wrapped, as soon as there may be one.
 */
export function traceHttp2Calls(recorder: CallRecorder): void {
  const guard = new Guard('outgoing HTTP/2 requests');
  let beginning: Beginning | undefined;
  let wrapped: SessionClass | undefined;

  const observe = (stream: ClientHttp2Stream, call: Call): void => {
    const onResponse = guard.wrap<Headers>((headers) => {
      call.answered(Number(headers[':status'] ?? 0));
    });
    const onClose = guard.wrap<number | undefined>((code) => {
      call.end(code === NO_ERROR || code === CANCEL ? undefined : 'ERR_HTTP2_STREAM_ERROR');
    });
    stream.once('response', onResponse);
    stream.once('close', () => {
      onClose(stream.rstCode);
    });
  };

  const begin = (session: ClientHttp2Session, given: unknown): Beginning | undefined => {
    const early = guard.on ? earlyHeaders(given) : undefined;
    if (early === undefined || isUndiciSession(session)) return undefined;
    try {
      const target = http2Target(session, early);
      if (target === undefined) return undefined;
      return { call: recorder.start(target, early), headers: early.all };
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
        if (own !== undefined) observe(stream, own.call);
        return stream;
      } catch (error) {
        own?.call.end(failureOf(error));
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
    if (beginning !== undefined) return;
    const session = stream.session as ClientHttp2Session | undefined;
    const sent = earlyHeaders(headers);
    if (session === undefined || sent === undefined || isUndiciSession(session)) return;
    if (wrapped === undefined) wrapRequest(Object.getPrototypeOf(session) as SessionClass);
    const target = http2Target(session, sent);
    if (target !== undefined) observe(stream, recorder.start(target, undefined));
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
