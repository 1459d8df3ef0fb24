import { RequestsInFlight } from '../threads/requests-in-flight.js';
import type { ProcessPlan } from '../run/process-plan.js';
import { traceClientRequests } from './client-spans.js';
import type { ServerRecorder } from './exchange.js';
import { traceFetchRequests } from './fetch-spans.js';
import { FlatRecorder } from './flat-recorder.js';
import { traceServerRequests } from './server-spans.js';
import { SpanStream } from './span-stream.js';

/**
 * Records the requests of this thread, those that it receives and those that it sends.
 *
 * @param isCounted whether the number of open requests is recorded.
 * @returns what records that number.
 */
export function traceRequests(plan: ProcessPlan, isCounted: boolean): RequestsInFlight | undefined {
  const inFlight = isCounted ? new RequestsInFlight() : undefined;
  const spans = plan.heph === undefined ? undefined : new SpanStream(plan.heph);
  const open = spans === undefined ? undefined : recorderOf(plan, spans);
  traceServerRequests(open, inFlight, plan.requestBytes);
  return inFlight;
}

/** Records outgoing requests; returns what opens the recorder of those that come in. */
function recorderOf({ context }: ProcessPlan, spans: SpanStream): () => ServerRecorder {
  if (context !== undefined) {
    const { traceRequestsWithContext } =
      require('./context/trace-requests.js') as typeof import('./context/trace-requests.js');
    const recorder = traceRequestsWithContext(spans, context);
    return () => recorder;
  }
  traceClientRequests(spans);
  traceFetchRequests(spans);
  return () => new FlatRecorder(spans);
}
