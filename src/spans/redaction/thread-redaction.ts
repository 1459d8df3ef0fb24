import { shared } from '../../core/process-state.js';
import type { Redactor } from './redaction.js';

/** What is removed from this thread's requests that are no spans. All copies of the package share it. */
export const threadRedaction = shared(
  'spans.redaction',
  (): { redactor: Redactor | undefined } => ({
    redactor: undefined,
  }),
);
