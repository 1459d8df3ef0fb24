import { TracewrightError } from '../../core/errors.js';
import { shared } from '../../core/process-state.js';

/** Reports what could not be traced; the program runs on. */
export function warn(message: string, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  process.emitWarning(`${message}: ${reason}`, 'TracewrightWarning');
}

const calls = shared('dumpi.warnings', () => ({ warned: false }));

/** Reports that a call of this thread could not be recorded, once. */
export function warnNotRecorded(error: unknown): void {
  // The program itself has closed the rank.
  if (calls.warned || (error instanceof TracewrightError && error.code === 'ERR_CLOSED')) return;
  calls.warned = true;
  warn('calls of this thread are missing in its trace', error);
}
