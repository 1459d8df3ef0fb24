import type { SpanSampler } from './sampler.js';

/** What the tracers of a provider share. */
export interface TracerPolicy {
  /** Decides about each span. Undefined: the sampling of tracewright/spans. */
  sampler: SpanSampler | undefined;
}
