import type { Span } from '../../heph/write/span.js';
import type { Timing } from '../../heph/write/event-stream.js';
import { Guard } from '../guard.js';
import type { SpanStream } from './span-stream.js';
import { originOf, pathOf } from './url-path.js';

const CALL = Symbol('tracewright.call');

/** A request on its way out. */
interface Call {
  timing: Timing | undefined;
  status: number;
  open: boolean;
}

/** The parts of undici's request that its channels document. */
interface UndiciMessage {
  request: { [CALL]?: Call; origin?: unknown; path?: unknown; method?: unknown };
  response?: { statusCode?: number };
}

const SCHEMA = [
  ['method', 'string'],
  ['origin', 'string'],
  ['path', 'string'],
  ['status', 'u64'],
  ['aborted', 'u64'],
] as const;

/**
 * Records every request that `fetch` and undici send from this thread, as a span `fetch` that ends
 * with the response's body: `method`, `origin`, `path` (without query), `status` (0: no response)
 * and `aborted` (1: it failed).
 */
export function traceFetchRequests(output: SpanStream): void {
  const guard = new Guard('fetch requests');
  let span: Span<typeof SCHEMA> | undefined;

  const finish = ({ request }: UndiciMessage, aborted: boolean): void => {
    const call = request[CALL];
    if (call?.open !== true) return;
    call.open = false;
    span ??= output.stream.span('fetch', SCHEMA);
    const { origin, path, method } = request;
    span.finishIn(
      output.nextSubstream(),
      call.timing,
      String(method),
      originOf(String(origin)),
      pathOf(String(path)),
      call.status,
      aborted ? 1 : 0,
    );
  };

  guard.subscribe('undici:request:create', ({ request }: UndiciMessage) => {
    request[CALL] = { timing: output.stream.startTrace(), status: 0, open: true };
  });
  guard.subscribe('undici:request:headers', ({ request, response }: UndiciMessage) => {
    const call = request[CALL];
    if (call !== undefined) call.status = response?.statusCode ?? 0;
  });
  guard.subscribe('undici:request:trailers', (message: UndiciMessage) => {
    finish(message, false);
  });
  guard.subscribe('undici:request:error', (message: UndiciMessage) => {
    finish(message, true);
  });
}
