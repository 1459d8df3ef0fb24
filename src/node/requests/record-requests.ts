import type { ProcessPlan } from '../run/process-plan.js';
import { CallRecorder } from './call-recorder.js';
import { traceConnections } from './connections.js';
import { traceFetchCalls } from './fetch-calls.js';
import { traceHttpCalls } from './http-calls.js';
import { traceHttp2Calls } from './http2-calls.js';
import { traceHttp2Requests } from './http2-requests.js';
import { answersBelowNobody, listenBelowNobody } from './listening.js';
import { propagationPolicy } from './propagation-policy.js';
import { ServerRecorder } from './server-recorder.js';
import { traceSocketlessRequests } from './socketless-requests.js';

/**
 * Records the requests of this thread as spans: all that it sends, and what it receives apart from HTTP/1.
 *
 * @returns what records those of HTTP/1.
 */
export function recordRequests({ context, propagation, trust }: ProcessPlan): ServerRecorder {
  const policy = propagationPolicy(propagation, trust);
  const server = new ServerRecorder(policy, context);
  if (context) {
    listenBelowNobody();
    answersBelowNobody();
  }
  traceConnections(server);
  traceHttp2Requests(server);
  traceSocketlessRequests(server);
  const calls = new CallRecorder(policy, context);
  traceHttpCalls(calls, context);
  traceFetchCalls(calls, context);
  traceHttp2Calls(calls, context);
  return server;
}
