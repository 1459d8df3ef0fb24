import { isMainThread } from '../../core/system-thread.js';
import type { Stream } from '../../heph/write/stream.js';
import type { HephPlan } from '../run/process-plan.js';
import { hephTrace } from './heph-trace.js';

/**
 * The Heph stream of the calling thread. It is opened with the first span, so that a thread that
 * serves nothing costs nothing.
 */
export class SpanStream {
  readonly #plan: HephPlan;
  #stream: Stream | undefined;
  #substream = 0;

  constructor(plan: HephPlan) {
    this.#plan = plan;
  }

  /** The stream: 0 for the main thread, the next number for every worker. */
  get stream(): Stream {
    if (this.#stream === undefined) {
      const trace = hephTrace(this.#plan);
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

let ofThread: SpanStream | undefined;

/** The Heph stream of the calling thread, of which there is one. */
export function streamOfThread(plan: HephPlan): SpanStream {
  return (ofThread ??= new SpanStream(plan));
}
