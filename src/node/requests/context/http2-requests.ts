import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { routeOf as givenRoute, watchGivenRoutes } from '../../../spans/route.js';
import type { Span } from '../../../spans/span.js';
import { Guard } from '../../guard.js';
import { bounded } from '../url-path.js';
import type { SpanServerRecorder } from './server-recorder.js';

const SERVED = Symbol('tracewright.served');
const NO_ERROR = 0;

/** What a stream serves. */
interface Served {
  readonly span: Span;
  readonly method: string;
  /** The route that the record of the open request has. */
  keptRoute: string;
}

type ServerStream = ServerHttp2Stream & { [SERVED]?: Served };
type Headers = IncomingHttpHeaders & Record<string, unknown>;

/** Records the requests that HTTP/2 servers of this thread receive, as those of HTTP/1. Of Node 22 and later. */
export function traceHttp2Requests(recorder: SpanServerRecorder): void {
  const guard = new Guard('HTTP/2 requests');
  guard.subscribe(
    'http2.server.stream.start',
    ({ stream, headers }: { stream: ServerStream; headers: Headers }) => {
      const span = recorder.startStream(headers, stream.session?.socket);
      stream[SERVED] = { span, method: String(headers[':method'] ?? ''), keptRoute: '' };
      stream.once('close', () => {
        close(stream);
      });
    },
  );
  watchGivenRoutes((request, route) => {
    const served = (request as { stream?: ServerStream }).stream?.[SERVED];
    if (served === undefined || route === undefined || !guard.on) return;
    try {
      const kept = bounded(route);
      const { span, method, keptRoute } = served;
      if (recorder.keepRoute(span, method, keptRoute, kept)) served.keptRoute = kept;
    } catch {
      // The route is taken at the end.
    }
  });
  const close = guard.wrap<ServerStream>((stream) => {
    const served = stream[SERVED];
    if (served === undefined) return;
    const sent = stream.sentHeaders as Record<string, unknown> | undefined;
    const status = sent === undefined ? undefined : Number(sent[':status']);
    const isAborted = status === undefined || stream.aborted || stream.rstCode !== NO_ERROR;
    const route = bounded(givenRoute(stream) ?? '');
    recorder.end(served.span, served.method, route, status, undefined, isAborted);
  });
}
