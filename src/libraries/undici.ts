import { poolWait } from './engine/pool-wait.js';
import type { Library } from './library.js';

/**
 * `undici`, whose pools keep requests from its own channels until there is a connection. Node's channels announce the
 * request then: below what asked for it.
 */
export const undici: Library = {
  name: 'undici',
  operations: [poolWait('orchestrion:undici:pool', 'http pool')],
};
