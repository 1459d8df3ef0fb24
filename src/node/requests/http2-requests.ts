import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { isNextMatch, onRouterMatch } from '../../libraries/engine/router-matches.js';
import { routeOf as givenRoute, watchGivenRoutes } from '../../spans/route.js';
import type { Span } from '../../spans/span.js';
import { Guard } from '../guard.js';
import { emitInContext } from './emit-in-context.js';
import type { ServedRequest } from './exchange.js';
import { endServedGrpc, isGrpc } from './grpc.js';
import type { ServerRecorder } from './server-recorder.js';
import { bounded, routeOf } from './path-and-route.js';
import { isWithin } from './request-context.js';

const SERVED = Symbol('tracewright.served');
const CALL = Symbol('tracewright.call');
const NO_ERROR = 0;

type ServerStream = ServerHttp2Stream & { [SERVED]?: ServedRequest; [CALL]?: Span };
type Headers = IncomingHttpHeaders & Record<string, unknown>;

/** Records the requests that HTTP/2 servers of this thread receive, as those of HTTP/1. Of Node 22 and later. */
export function traceHttp2Requests(recorder: ServerRecorder): void {
  const guard = new Guard('HTTP/2 requests');
  guard.subscribe(
    'http2.server.stream.start',
    ({ stream, headers }: { stream: ServerStream; headers: Headers }) => {
      // What the program pushes is no request.
      if (Number(stream.id) % 2 === 0) return;
      const socket = stream.session?.socket;
      let span: Span | undefined;
      if (isGrpc(headers['content-type'])) {
        span = stream[CALL] = recorder.startGrpc(headers, socket);
      } else {
        const served = recorder.startStream(headers, socket);
        stream[SERVED] = served;
        span = served.span;
      }
      if (span !== undefined && recorder.context !== undefined) {
        emitInContext(span, stream, isWithin);
      }
      stream.once('close', () => {
        close(stream);
      });
    },
  );
  watchGivenRoutes((request, route) => {
    const served = (request as { stream?: ServerStream }).stream?.[SERVED];
    if (served === undefined || !guard.on) return;
    try {
      recorder.routed(served, bounded(route));
    } catch {
      // The route is taken at the end.
    }
  });
  onRouterMatch(2, (request, match) => {
    const { stream } = request as { stream?: ServerStream };
    const served = stream?.[SERVED];
    if (stream === undefined || served === undefined || !guard.on) return;
    if (givenRoute(stream) !== undefined) return;
    const { matched } = served;
    if (matched !== undefined && !isNextMatch(matched, match, stream)) return;
    served.matched = match;
    recorder.routed(served, bounded(match.route));
  });
  const close = guard.wrap<ServerStream>((stream) => {
    const call = stream[CALL];
    if (call !== undefined) endServedGrpc(stream, call);
    const served = stream[SERVED];
    if (served === undefined) return;
    const sent = stream.sentHeaders as Record<string, unknown> | undefined;
    const status = sent === undefined ? undefined : Number(sent[':status']);
    const isAborted = status === undefined || stream.aborted || stream.rstCode !== NO_ERROR;
    served.route = routeOf(stream, served.matched, '', '');
    recorder.end(served, status, undefined, isAborted);
  });
}
