import { recordInto } from '../../../spans/recording.js';
import type { SpanStream } from '../span-stream.js';
import { traceClientRequests } from './client-requests.js';
import { traceFetchRequests } from './fetch-requests.js';
import { propagationPolicy } from './propagation-policy.js';
import type { ContextSettings } from './propagation-policy.js';
import { SpanRecorder } from './server-recorder.js';

/**
 * Records outgoing requests of this thread as spans, and has spans of the program go to the hook's
 * trace.
 *
 * @returns what records the requests that come in.
 */
export function traceRequestsWithContext(
  output: SpanStream,
  settings: ContextSettings,
): SpanRecorder {
  const policy = propagationPolicy(settings);
  recordInto(() => output.stream);
  traceClientRequests(policy);
  traceFetchRequests(policy);
  return new SpanRecorder(policy);
}
