import type { CallRecorder } from '../calls.js';
import type { ServerRecorder } from '../exchange.js';
import { SpanCallRecorder } from './call-recorder.js';
import { traceConnections } from './connections.js';
import { traceHttp2Calls } from './http2-calls.js';
import { traceHttp2Requests } from './http2-requests.js';
import { propagationPolicy } from './propagation-policy.js';
import type { ContextSettings } from './propagation-policy.js';
import { SpanServerRecorder } from './server-recorder.js';

/** What records requests of HTTP/1 and of fetch as spans of traces. */
export interface SpanRecorders {
  server: ServerRecorder;
  calls: CallRecorder;
}

/** The recorders of this thread. Those of HTTP/2 and of upgraded connections begin here, too. */
export function spanRecorders(settings: ContextSettings): SpanRecorders {
  const policy = propagationPolicy(settings);
  const server = new SpanServerRecorder(policy);
  const calls = new SpanCallRecorder(policy);
  traceConnections(server);
  traceHttp2Requests(server);
  traceHttp2Calls(calls);
  return { server, calls };
}
