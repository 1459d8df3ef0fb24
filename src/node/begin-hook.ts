import { isEnabled, isRequired, mayRunProgram, missingPermissions } from './enabled.js';

// An addon that does not load on this machine must not stop the service, and only a call can be
// caught. A top-level await would break `-r`.
function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    if (isRequired()) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.emitWarning(`this process is not traced: ${reason}`, 'TracewrightWarning');
  }
}

function begin(): void {
  const missing = missingPermissions();
  if (missing.length > 0) {
    throw new Error(`Node's permission model refuses what tracing needs; add ${missing.join(' ')}`);
  }
  const { beginTracing } = require('./begin-tracing.js') as typeof import('./begin-tracing.js');
  beginTracing();
}

/** Calls back before a launcher runs the program in its own process, by Node's own function for that. */
function whenItRuns(call: () => void): void {
  const loader = process.getBuiltinModule('node:module') as unknown as {
    runMain?: (...args: unknown[]) => unknown;
  };
  const { runMain } = loader;
  if (typeof runMain !== 'function') {
    call();
    return;
  }
  loader.runMain = (...args) => {
    loader.runMain = runMain;
    call();
    return runMain.apply(loader, args);
  };
}

/** Traces this process, or the program that it is about to run, unless a setting says no. */
export function beginHook(): void {
  guarded(() => {
    if (!isEnabled()) return;
    if (mayRunProgram()) {
      whenItRuns(() => {
        guarded(begin);
      });
    } else {
      begin();
    }
  });
}
