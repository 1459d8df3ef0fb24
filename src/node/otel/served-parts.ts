import { addOwnManager } from '../../otel/api-globals.js';
import { TracewrightContextManager } from '../../otel/context-manager.js';
import { W3CPropagator } from '../../otel/propagators.js';
import { TracewrightProvider } from '../../otel/provider.js';
import { RedirectedTracers } from './redirected-tracers.js';
import type { Parts } from './yielding-api.js';

/** What the hook serves to the OpenTelemetry API. */
export interface ServedParts {
  parts: Parts;
  tracers: RedirectedTracers;
}

export function serveParts(): ServedParts {
  const trace = new TracewrightProvider();
  const context = new TracewrightContextManager();
  addOwnManager(context);
  const parts: Parts = { trace, context, propagation: new W3CPropagator() };
  return { parts, tracers: new RedirectedTracers(trace) };
}
