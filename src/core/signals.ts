import { core } from './addon.js';

export const {
  /**
   * Completes the traces when the signal ends the process. False when the program handles or ignores
   * the signal, which then stays the program's.
   */
  finishOnSignal,
} = core;

const listeners = new Set<() => void>();
let isListening = false;

/**
 * Calls a function of this thread before a signal ends the process, unless the event loop is blocked: a signal waits a
 * quarter of a second.
 *
 * @returns what takes the function back.
 */
export function beforeSignal(listener: () => void): () => void {
  listeners.add(listener);
  isListening ||= core.callBeforeSignal(() => {
    for (const each of listeners) each();
  });
  return () => {
    listeners.delete(listener);
  };
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
