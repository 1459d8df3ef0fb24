import type { OnFault } from '../core/fault.js';
import type { Progress } from '../core/finding.js';
import type { FoundTrace } from '../traces/find-traces.js';
import type { Selection } from './selection.js';

/** Rows of a batch: so much of a trace is in memory. */
export const EXPORTED_ROWS = 1 << 14;

/** Options of every export. */
export interface ExportOptions {
  /** What is exported: everything unless set. */
  selection?: Selection;
  /** The callback for a trace's bytes: those done, and those in all. */
  progress?: (trace: FoundTrace) => Progress | undefined;
  /** Takes what cannot be read of a trace; everything else is exported. */
  onFault?: OnFault | undefined;
}
