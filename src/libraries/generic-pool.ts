import { poolWait } from './engine/pool-wait.js';
import type { Library } from './library.js';

/** The pool does not say what it holds. */
export const genericPool: Library = {
  name: 'generic-pool',
  operations: [poolWait('orchestrion:generic-pool:acquire', 'generic pool')],
};
