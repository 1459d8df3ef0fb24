import type { Span } from '../../heph/write/span.js';
import type { Stream } from '../../heph/write/stream.js';
import type { Exchange, ServerRecorder } from './exchange.js';
import type { SpanStream } from './span-stream.js';
import { pathOf } from './url-path.js';

const ANSWERED = [
  ['method', 'string'],
  ['path', 'string'],
  ['status', 'u64'],
] as const;
const ROUTED = [['route', 'string'], ...ANSWERED] as const;
const BYTES = ['bytes', 'u64'] as const;
const ABORTED = ['aborted', 'u64'] as const;

/**
 * Records each server request as a span of its own, without ids and context: `request` with `method`,
 * `path` (without query) and `status`, and with `route` first if a router reports it. A request that was
 * not answered in full has `aborted` 1 at the end, and `status` 0 when not even headers were sent.
 */
export class FlatRecorder implements ServerRecorder {
  readonly #stream: Stream;
  readonly #output: SpanStream;
  readonly #answered: Span<typeof ANSWERED>;
  readonly #routed: Span<typeof ROUTED>;
  readonly #answeredWithBytes: Span<readonly [...typeof ANSWERED, typeof BYTES]>;
  readonly #routedWithBytes: Span<readonly [...typeof ROUTED, typeof BYTES]>;
  readonly #aborted: Span<readonly [...typeof ANSWERED, typeof ABORTED]>;
  readonly #routedAborted: Span<readonly [...typeof ROUTED, typeof ABORTED]>;

  constructor(output: SpanStream) {
    const { stream } = output;
    this.#stream = stream;
    this.#output = output;
    this.#answered = stream.span('request', ANSWERED);
    this.#routed = stream.span('request', ROUTED);
    this.#answeredWithBytes = stream.span('request', [...ANSWERED, BYTES]);
    this.#routedWithBytes = stream.span('request', [...ROUTED, BYTES]);
    this.#aborted = stream.span('request', [...ANSWERED, ABORTED]);
    this.#routedAborted = stream.span('request', [...ROUTED, ABORTED]);
  }

  start(exchange: Exchange): void {
    exchange.timing = this.#stream.startTrace();
  }

  answered(exchange: Exchange, bytes: number | undefined): void {
    const substream = this.#output.nextSubstream();
    const { timing, method, url, route, response } = exchange;
    const { statusCode } = response;
    const path = pathOf(url);
    if (bytes !== undefined) this.#answeredInBytes(exchange, substream, path, bytes);
    else if (route === '') this.#answered.finishIn(substream, timing, method, path, statusCode);
    else this.#routed.finishIn(substream, timing, route, method, path, statusCode);
  }

  #answeredInBytes(exchange: Exchange, substream: number, path: string, bytes: number): void {
    const { timing, method, route, response } = exchange;
    const { statusCode } = response;
    if (route === '') {
      this.#answeredWithBytes.finishIn(substream, timing, method, path, statusCode, bytes);
    } else {
      this.#routedWithBytes.finishIn(substream, timing, route, method, path, statusCode, bytes);
    }
  }

  aborted(exchange: Exchange): void {
    const { timing, method, url, route, response } = exchange;
    const path = pathOf(url);
    const status = response.headersSent ? response.statusCode : 0;
    const substream = this.#output.nextSubstream();
    if (route === '') {
      this.#aborted.finishIn(substream, timing, method, path, status, 1);
    } else {
      this.#routedAborted.finishIn(substream, timing, route, method, path, status, 1);
    }
  }
}
