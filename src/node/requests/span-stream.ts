import { holdingSignals } from '../../core/signals.js';
import { isMainThread } from '../../core/system-thread.js';
import { openTraceOfOpenEvents } from '../../heph/write/trace.js';
import type { Trace } from '../../heph/write/trace.js';
import type { Stream } from '../../heph/write/stream.js';

/**
 * The Heph stream of the calling thread. It is opened with the first span, so that a worker that
 * serves nothing costs nothing.
 */
export class SpanStream {
  readonly #target: string;
  #trace: Trace | undefined;
  #stream: Stream | undefined;
  #substream = 0;

  /** @param target where the trace of the process goes. */
  constructor(target: string, trace?: Trace) {
    this.#target = target;
    this.#trace = trace;
  }

  /** The stream: 0 for the main thread, the next number for every worker. */
  get stream(): Stream {
    if (this.#stream === undefined) {
      this.#trace ??= holdingSignals(() => openTraceOfOpenEvents(this.#target));
      const trace = this.#trace;
      this.#stream = isMainThread ? trace.streamOfOpenEvents(0) : trace.streamOfOpenEvents();
    }
    return this.#stream;
  }

  /**
   * A number that no other span of the thread has: spans that overlap in time and share a substream
   * would read as nested, and requests are not.
   */
  nextSubstream(): number {
    return ++this.#substream;
  }
}
