import { currentProcess } from '../../ovni/write/process-note.js';
import { thread } from '../../ovni/write/thread.js';
import { PAUSE_MS } from '../guard.js';
import { part } from '../warning.js';

/**
 * Begins the ovni stream of a thread once the system allows it.
 *
 * @param begin false: it does not yet.
 */
export function beginLater(what: string, begin: () => boolean): void {
  setTimeout(() => {
    if (currentProcess()?.finished !== false || thread.process !== undefined) return;
    part(what, () => {
      if (!begin()) beginLater(what, begin);
    });
  }, PAUSE_MS).unref();
}
