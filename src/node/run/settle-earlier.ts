import { sizesOf } from './trace-sizes.js';
import type { Run } from './run.js';

/**
 * Completes what processes that were killed have left in the place of this run, and deletes the
 * oldest traces of earlier ones that are beyond the budget.
 *
 * @returns the bytes of those that stay.
 */
export function settleEarlier(run: Run, ringDir: string | undefined): number {
  // The directory is new, and no earlier run has used its name.
  if (run.topmost && run.earlier.length === 0) return 0;
  const { completeEarlierTraces, deleteOldest, whileAnchored } =
    require('./earlier-traces.js') as typeof import('./earlier-traces.js');
  return whileAnchored(run.earlier, () => {
    const traces = completeEarlierTraces(run.directory, run.earlier, ringDir);
    const { maxBytes, atMaxBytes } = sizesOf(0);
    if (maxBytes > 0 && atMaxBytes === 'deleteOldest') deleteOldest(traces, maxBytes);
    return traces.reduce((sum, { bytes }) => sum + bytes, 0);
  });
}
