import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Span } from '../../heph/write/span.js';
import type { Timing } from '../../heph/write/event-stream.js';
import { Guard } from '../guard.js';
import type { SpanStream } from './span-stream.js';
import { hostOf, pathOf } from './url-path.js';

const CALL = Symbol('tracewright.call');

/** A request on its way out. */
interface Call {
  timing: Timing | undefined;
  open: boolean;
}

type TracedRequest = ClientRequest & { [CALL]?: Call };
type TracedResponse = IncomingMessage & { [CALL]?: TracedRequest };

interface ClientMessage {
  request: TracedRequest;
  response: TracedResponse;
}

const SCHEMA = [
  ['method', 'string'],
  ['host', 'string'],
  ['path', 'string'],
  ['status', 'u64'],
  ['aborted', 'u64'],
] as const;

/**
 * Records every request that node:http and node:https send from this thread, as a span
 * `http client` that ends with the response's body: `method`, `host`, `path` (without query),
 * `status` (0: no response) and `aborted` (1: it failed, or its body was not received in full).
 */
export function traceClientRequests(output: SpanStream): void {
  const guard = new Guard('outgoing HTTP requests');
  let span: Span<typeof SCHEMA> | undefined;

  const finish = (request: TracedRequest, status: number, aborted: boolean): void => {
    const call = request[CALL];
    if (call?.open !== true) return;
    call.open = false;
    span ??= output.stream.span('http client', SCHEMA);
    const host = request.getHeader('host');
    span.finishIn(
      output.nextSubstream(),
      call.timing,
      request.method,
      hostOf(typeof host === 'string' ? host : request.host),
      pathOf(request.path),
      status,
      aborted ? 1 : 0,
    );
  };
  const close = guard.wrap<TracedResponse>((response) => {
    const request = response[CALL];
    if (request !== undefined) finish(request, response.statusCode ?? 0, !response.complete);
  });
  function whenClosed(this: TracedResponse): void {
    close(this);
  }

  guard.subscribe('http.client.request.start', ({ request }: ClientMessage) => {
    request[CALL] = { timing: output.stream.startTrace(), open: true };
  });
  guard.subscribe('http.client.response.finish', ({ request, response }: ClientMessage) => {
    // Published at the headers; the body is still to come.
    if (request[CALL] === undefined) return;
    response[CALL] = request;
    response.on('close', whenClosed);
  });
  guard.subscribe('http.client.request.error', ({ request }: ClientMessage) => {
    finish(request, 0, true);
  });
}
