import type { CheckedLimits } from './limits.js';
import type { Redactor } from './redaction/redaction.js';
import type { Sampler } from './sampling.js';

/** Decisions about the spans of a thread, by options and variables. */
export interface Policy {
  readonly limits: CheckedLimits;
  readonly redactor: Redactor | undefined;
  readonly sampler: Sampler;
}
