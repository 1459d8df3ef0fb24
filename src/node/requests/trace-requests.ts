import type { Redactor } from '../../spans/redaction/redaction.js';
import type { ProcessPlan } from '../run/process-plan.js';
import { RequestsInFlight } from '../threads/requests-in-flight.js';
import type { CallRecorder } from './calls.js';
import type { ServerRecorder } from './exchange.js';
import { traceFetchCalls } from './fetch-calls.js';
import { FlatCallRecorder } from './flat/call-recorder.js';
import { FlatServerRecorder } from './flat/server-recorder.js';
import { traceHttpCalls } from './http-calls.js';
import { traceServerRequests } from './server-requests.js';
import { streamOfThread } from './span-stream.js';

/** What opens the recorders of requests, with the first one of each kind. */
interface Recorders {
  server: () => ServerRecorder;
  httpCalls: () => CallRecorder;
  fetchCalls: () => CallRecorder;
}

/**
 * Records the requests of this thread, those that it receives and those that it sends.
 *
 * @param isCounted whether the number of open requests is recorded.
 * @returns what records that number.
 */
export function traceRequests(plan: ProcessPlan, isCounted: boolean): RequestsInFlight | undefined {
  const inFlight = isCounted ? new RequestsInFlight() : undefined;
  const recorders = recordersOf(plan);
  traceServerRequests(recorders?.server, inFlight, plan.requestBytes);
  if (recorders === undefined) return inFlight;
  traceHttpCalls(recorders.httpCalls);
  traceFetchCalls(recorders.fetchCalls);
  return inFlight;
}

function spansOfThread(): typeof import('../../spans/shared-spans.js').spans {
  const { spans } =
    require('../../spans/shared-spans.js') as typeof import('../../spans/shared-spans.js');
  return spans;
}

/** What the variables remove from requests. Spans are loaded only if there are any. */
function redactionOfVariables(): Redactor | undefined {
  const names = Object.keys(process.env);
  if (!names.some((name) => name.startsWith('TRACEWRIGHT_REDACT_'))) return undefined;
  return spansOfThread().currentPolicy().redactor;
}

function recordersOf({ heph, context }: ProcessPlan): Recorders | undefined {
  if (heph === undefined) return undefined;
  const redaction = redactionOfVariables();
  if (context !== undefined) {
    const { spanRecorders } =
      require('./context/span-recorders.js') as typeof import('./context/span-recorders.js');
    const { server, calls } = spanRecorders(context);
    return { server: () => server, httpCalls: () => calls, fetchCalls: () => calls };
  }
  const output = streamOfThread(heph);
  const began = <Recorder>(recorder: Recorder): Recorder => {
    if (redaction?.fault !== undefined) spansOfThread().openOutput();
    return recorder;
  };
  return {
    server: () => began(new FlatServerRecorder(output)),
    httpCalls: () => began(new FlatCallRecorder(output, 'http client')),
    fetchCalls: () => began(new FlatCallRecorder(output, 'fetch')),
  };
}
