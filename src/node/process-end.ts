import { finishOnSignal } from '../core/signals.js';
import { isMainThread } from '../core/system-thread.js';
import { procFini } from '../ovni/write/process.js';
import { readyProcess } from '../ovni/write/process-note.js';
import { thread, threadFree } from '../ovni/write/thread.js';
import type { GarbageCollections } from './threads/garbage-collections.js';
import type { PastMarks } from './threads/past-marks.js';

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

/**
 * Brings to the ovni trace what only JavaScript knows when the thread ends. The streams themselves
 * are ended by the native core after the last listener, so that a program which records something
 * at its own exit finds them open. Only files in `OVNI_TMPDIR` have to be moved from here.
 */
export function completeAtExit(collections: GarbageCollections, marks: readonly PastMarks[]): void {
  process.on('exit', () => {
    try {
      collections.flush();
      if (thread.process === undefined) return;
      thread.metadata.writeDue();
      const { workDir, procDir } = readyProcess('exit');
      if (workDir === procDir) return;
      collections.close();
      for (const each of marks) each.close();
      threadFree();
      if (isMainThread) procFini();
    } catch {
      // The process is ending, with or without the last few events.
    }
  });
}
