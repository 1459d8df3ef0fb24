import { TracewrightContextManager } from '../../otel/context-manager.js';
import { W3CPropagator } from '../../otel/propagators.js';
import { TracewrightProvider, registered } from '../../otel/provider.js';
import { RedirectedTracers } from './redirected-tracers.js';
import type { Winner } from './redirected-tracers.js';
import type { Parts } from './yielding-api.js';

/** The parts of the OpenTelemetry API that the hook serves. */
export interface ServedParts {
  parts: Parts;
  tracers: RedirectedTracers;
  /** Leaves the API to another SDK. */
  leave(winner: Winner): void;
}

export function serveParts(): ServedParts {
  // What the program gives `register` changes this provider.
  const trace = (registered.provider ??= new TracewrightProvider());
  const context = new TracewrightContextManager();
  const parts: Parts = { trace, context, propagation: new W3CPropagator() };
  const tracers = new RedirectedTracers(trace);
  return {
    parts,
    tracers,
    leave(winner) {
      tracers.redirect(winner);
      if (registered.provider === trace) registered.provider = undefined;
    },
  };
}
