import { claimNote, putNote } from '../core/process-notes.js';

/** Warns the operator of the service by a process warning (`--no-warnings` suppresses it). */
export function warn(message: string): void {
  process.emitWarning(message, 'TracewrightWarning');
}

/** The message of an error, to follow a colon. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Of warnings for each format: the other format fails by the same. */
const OF_FORMAT = /^no \w+ trace is written$/;

/** Whether the process has not warned of a fault: a full disk, say, fails each thread and format. */
function isNewFault(what: string, error: unknown): boolean {
  const { cause, code } = error as { cause?: { code?: string }; code?: string };
  // A path has the number of its thread.
  const fault = cause?.code ?? code ?? reasonOf(error);
  const note = `node.warned ${what.replace(OF_FORMAT, '')} ${fault}`;
  if (!claimNote(note)) return false;
  putNote(note, '1');
  return true;
}

/**
 * Runs one part of the set-up. If it fails, the others continue without it, after a warning: one for each
 * fault of the process.
 */
export function part<T>(what: string, begin: () => T): T | undefined {
  try {
    return begin();
  } catch (error) {
    if (isNewFault(what, error)) warn(`${what}: ${reasonOf(error)}`);
    return undefined;
  }
}
