import { writeSync } from 'node:fs';
import type { Settings } from '../settings.js';
import type { ProcessPlan } from './process-plan.js';
import type { Run } from './run.js';

/** Prints where the traces of a run are written, once for all its processes. */
export function announce(settings: Settings, run: Run, plan: ProcessPlan): void {
  if (settings.quiet || !run.topmost) return;
  const targets = new Set<string>();
  const { heph } = plan;
  if (plan.ovni?.atStart === true || settings.hephTarget === undefined) targets.add(run.directory);
  if (heph !== undefined && 'target' in heph) targets.add(heph.target);
  try {
    writeSync(
      2,
      `tracewright: ${settings.name} (${process.pid}) is traced in ${[...targets].join(' and ')}\n`,
    );
  } catch {
    // Standard error is closed.
  }
}
