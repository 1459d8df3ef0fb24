import { finishOnSignal } from '../core/signals.js';
import { hookStream } from '../ovni/write/hook-stream.js';
import type { GarbageCollections } from './threads/garbage-collections.js';
import type { ThreadActivity } from './threads/thread-activity.js';
import { part } from './warning.js';

/** Signals that end a process, and that an operator sends to a service. POSIX says their numbers. */
const SIGNALS = new Map<string | symbol, number>([
  ['SIGTERM', 15],
  ['SIGINT', 2],
  ['SIGHUP', 1],
]);

/**
 * Completes the traces when a signal ends the process. Node cannot run JavaScript then, so the
 * native core takes the signal, writes what is in the rings, and lets it end the process as it would
 * have. A signal that the program handles, or ignores, is left to the program.
 */
export function completeOnSignals(): void {
  for (const number of SIGNALS.values()) finishOnSignal(number);
  // Where the program lets go of a signal, it would end the process again.
  process.on('removeListener', (name: string | symbol) => {
    const number = SIGNALS.get(name);
    if (number === undefined || process.listenerCount(name) > 0) return;
    // Node gives the signal back only after this event's listeners.
    setImmediate(() => {
      if (process.listenerCount(name) === 0) finishOnSignal(number);
    }).unref();
    finishOnSignal(number);
  });
}

/** Records what only JavaScript knows when the thread ends. */
export function completeAtExit(
  activity: ThreadActivity | undefined,
  collections: GarbageCollections | undefined,
): void {
  process.on('exit', () => {
    try {
      collections?.flush();
      activity?.ended();
      hookStream.begun?.complete();
    } catch {
      // The process is ending, with or without the last few events.
    }
  });
}

/** Records as a span what nothing catches: it ends the thread, or the process. */
export function recordUncaught(): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    // The program goes on if it handles such errors.
    if (process.listenerCount('uncaughtException') > 0) return;
    if (process.hasUncaughtExceptionCaptureCallback()) return;
    part('the error that ends the thread is not recorded', () => {
      const late =
        require('./threads/uncaught-error.js') as typeof import('./threads/uncaught-error.js');
      late.recordError(error);
    });
  });
}
