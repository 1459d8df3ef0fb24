import type { IncomingHttpHeaders } from 'node:http';
import type { ClientHttp2Stream, Http2Stream, ServerHttp2Stream } from 'node:http2';
import { routeOf as givenRoute } from '../../../spans/route.js';
import type { Span } from '../../../spans/span.js';
import { Guard } from '../../guard.js';
import type { Call, CallRecorder } from '../calls.js';
import { bounded } from '../url-path.js';
import type { SpanServerRecorder } from './server-recorder.js';

const SPAN = Symbol('tracewright.span');
const CALL = Symbol('tracewright.call');
const NO_ERROR = 0;
/** What a caller resets a stream with that it needs no more. */
const CANCEL = 8;

type ServerStream = ServerHttp2Stream & { [SPAN]?: Span };
type ClientStream = ClientHttp2Stream & { [CALL]?: Call };
type Headers = IncomingHttpHeaders & Record<string, unknown>;

function text(headers: Headers, name: string): string {
  return String(headers[name] ?? '');
}

/** Records the requests that HTTP/2 servers of this thread receive, as those of HTTP/1. Of Node 22 and later. */
export function traceHttp2Requests(recorder: SpanServerRecorder): void {
  const guard = new Guard('HTTP/2 requests');
  guard.subscribe(
    'http2.server.stream.start',
    ({ stream, headers }: { stream: ServerStream; headers: Headers }) => {
      stream[SPAN] = recorder.startStream(headers, stream.session?.socket);
      stream.once('close', () => {
        close(stream, headers);
      });
    },
  );
  const close = (stream: ServerStream, headers: Headers): void => {
    end({ stream, headers });
  };
  const end = guard.wrap<{ stream: ServerStream; headers: Headers }>(({ stream, headers }) => {
    const span = stream[SPAN];
    if (span === undefined) return;
    const sent = stream.sentHeaders as Record<string, unknown> | undefined;
    const status = sent === undefined ? undefined : Number(sent[':status']);
    const isAborted = status === undefined || stream.aborted || stream.rstCode !== NO_ERROR;
    const route = bounded(givenRoute(stream) ?? '');
    recorder.end(span, text(headers, ':method'), route, status, undefined, isAborted);
  });
}

/**
 * Records the requests that HTTP/2 clients of this thread send. Of Node 22 and later. They carry no ids: Node has made
 * their headers when it publishes them.
 */
export function traceHttp2Calls(recorder: CallRecorder): void {
  const guard = new Guard('outgoing HTTP/2 requests');
  const start = (stream: ClientStream, headers: Headers): void => {
    if (stream[CALL] !== undefined) return;
    const target = {
      method: text(headers, ':method') || 'GET',
      scheme: text(headers, ':scheme') || 'https',
      authority: text(headers, ':authority'),
      path: text(headers, ':path') || '/',
    };
    stream[CALL] = recorder.start(target, undefined);
  };
  interface Message {
    stream: ClientStream & Http2Stream;
    headers: Headers;
  }
  guard.subscribe('http2.client.stream.created', ({ stream, headers }: Message) => {
    start(stream, headers);
  });
  guard.subscribe('http2.client.stream.finish', ({ stream, headers }: Message) => {
    stream[CALL]?.answered(Number(headers[':status'] ?? 0));
  });
  guard.subscribe('http2.client.stream.close', ({ stream }: Message) => {
    const { rstCode } = stream;
    const isFailed = rstCode !== NO_ERROR && rstCode !== CANCEL;
    stream[CALL]?.end(isFailed ? 'ERR_HTTP2_STREAM_ERROR' : undefined);
  });
}
