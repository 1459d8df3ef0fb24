import { absence } from './addon.js';
import { TracewrightError } from './errors.js';
import { shared } from './process-state.js';
import { valueOf } from './settings/value-of.js';

const WARNED = 'tracewright.off';

/** Warns once: workers that begin afterwards know that it was done. */
function warnOnce(reason: string): void {
  const { getEnvironmentData, setEnvironmentData } =
    process.getBuiltinModule('node:worker_threads');
  if (getEnvironmentData(WARNED) === reason) return;
  setEnvironmentData(WARNED, reason);
  process.emitWarning(`tracing is off: ${reason}`, {
    type: 'TracewrightWarning',
    code: 'TRACEWRIGHT_OFF',
  });
}

const off = shared('core.off', () => ({ warned: false }));

/**
 * Whether nothing can be recorded here, for what opens a trace: it creates no file then. The first call
 * warns.
 *
 * @throws TracewrightError `ERR_SYSTEM` instead, if `TRACEWRIGHT_REQUIRED` is on.
 */
export function recordsNothing(): boolean {
  if (absence === undefined) return false;
  if (valueOf('REQUIRED')) {
    throw new TracewrightError('ERR_SYSTEM', `this process cannot be traced: ${absence}`, {
      field: 'addon',
    });
  }
  if (!off.warned) {
    off.warned = true;
    warnOnce(absence);
  }
  return true;
}
