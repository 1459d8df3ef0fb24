import { core } from '../addon.js';

/**
 * Runs steps that a signal must not part: where the native core ends the process on a signal, it
 * waits for them (at most half a second), and steps that come after the signal are not begun.
 */
export function holdingSignals<T>(steps: () => T): T {
  core.holdSignals();
  try {
    return steps();
  } finally {
    core.releaseSignals();
  }
}
