import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { routeOf as givenRoute } from '../../../spans/route.js';
import type { Span } from '../../../spans/span.js';
import { Guard } from '../../guard.js';
import { bounded } from '../url-path.js';
import type { SpanServerRecorder } from './server-recorder.js';

const SPAN = Symbol('tracewright.span');
const NO_ERROR = 0;

type ServerStream = ServerHttp2Stream & { [SPAN]?: Span };
type Headers = IncomingHttpHeaders & Record<string, unknown>;

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
    recorder.end(span, String(headers[':method'] ?? ''), route, status, undefined, isAborted);
  });
}
