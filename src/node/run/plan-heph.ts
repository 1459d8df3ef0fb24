import { join } from 'node:path';
import { RUN_FOLDER } from '../../heph/file-names.js';
import type { Settings } from '../settings.js';
import type { HephPlan } from './process-plan.js';
import { enterFormat } from './run.js';
import type { Run } from './run.js';
import { sizeOptionsOf, sizesOf } from './trace-sizes.js';

/** The trace of a target that the user has named is opened at once, so that a mistake is reported at once. */
export function planHeph(settings: Settings, run: Run, used: number): HephPlan {
  const { hephTarget, name } = settings;
  if (hephTarget === undefined) {
    const sizes = sizeOptionsOf(sizesOf(used));
    // Held open from now on, so that nothing else can take the place of the directory.
    return { path: join(enterFormat(run, RUN_FOLDER), name), sizes };
  }
  const { openNamedTarget } = require('./heph-trace.js') as typeof import('./heph-trace.js');
  return { target: openNamedTarget(hephTarget, !run.topmost, () => sizeOptionsOf(sizesOf(0))) };
}
