import { core } from './addon.js';

/**
 * Completes the traces when the signal ends the process. False when the program handles or ignores
 * the signal, which then stays the program's.
 */
export function finishOnSignal(signalNumber: number): boolean {
  return core.finishOnSignal(signalNumber);
}

/**
 * Runs steps that a signal must not separate. A signal that ends the process waits for them, at most
 * half a second; steps that come after the signal do not start.
 */
export function holdingSignals<T>(steps: () => T): T {
  core.holdSignals();
  try {
    return steps();
  } finally {
    core.releaseSignals();
  }
}
