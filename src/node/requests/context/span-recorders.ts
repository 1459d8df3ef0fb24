import type { CallRecorder } from '../calls.js';
import type { ServerRecorder } from '../exchange.js';
import { SpanCallRecorder } from './call-recorder.js';
import { propagationPolicy } from './propagation-policy.js';
import type { ContextSettings } from './propagation-policy.js';
import { SpanServerRecorder } from './server-recorder.js';

/** What records requests as spans of traces. */
export interface SpanRecorders {
  server: ServerRecorder;
  calls: CallRecorder;
}

/** The recorders of this thread. */
export function spanRecorders(settings: ContextSettings): SpanRecorders {
  const policy = propagationPolicy(settings);
  return { server: new SpanServerRecorder(policy), calls: new SpanCallRecorder(policy) };
}
