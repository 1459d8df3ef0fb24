import { hookStream } from '../../ovni/write/hook-stream.js';
import { PAUSE_MS } from '../guard.js';
import type { OvniPlan, ProcessPlan } from '../run/process-plan.js';
import { part } from '../warning.js';

/** Loaded with the first stream: most processes have none. */
export function ovniStream(): typeof import('./ovni-stream.js') {
  return require('./ovni-stream.js') as typeof import('./ovni-stream.js');
}

/** Has the ovni stream of the calling thread begin now, or with the program's first call of ovni. */
export function beginWhenCalled(plan: ProcessPlan, ovni: OvniPlan): void {
  let retryAt = 0;
  const begin = (): void => {
    if (Date.now() < retryAt) return;
    // What begins it calls ovni, too.
    hookStream.begin = undefined;
    const begun = part('no ovni trace of this thread is written', () =>
      ovniStream().beginStream(plan, ovni),
    );
    if (begun !== undefined) return;
    retryAt = Date.now() + PAUSE_MS;
    hookStream.begin = begin;
  };
  hookStream.begin = begin;
  if (ovni.atStart) begin();
}
