import type { ProcessPlan } from '../run/process-plan.js';
import type { RequestsInFlight } from '../threads/requests-in-flight.js';
import { traceServerRequests } from './server-requests.js';

/**
 * Traces the requests of this thread, those that it receives and those that it sends.
 *
 * @param isCounted whether the number of open requests is recorded.
 * @returns what records that number.
 */
export function traceRequests(plan: ProcessPlan, isCounted: boolean): RequestsInFlight | undefined {
  const inFlight = isCounted ? counting() : undefined;
  const recorder = plan.heph === undefined ? undefined : load().recordRequests(plan);
  traceServerRequests(recorder, inFlight, plan.requestBytes);
  return inFlight;
}

function counting(): RequestsInFlight {
  const { RequestsInFlight } =
    require('../threads/requests-in-flight.js') as typeof import('../threads/requests-in-flight.js');
  return new RequestsInFlight();
}

/** Spans, which a process without a Heph trace never needs. */
function load(): typeof import('./record-requests.js') {
  return require('./record-requests.js') as typeof import('./record-requests.js');
}
