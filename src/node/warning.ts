/** Warns the operator of the service by a process warning (`--no-warnings` suppresses it). */
export function warn(message: string): void {
  process.emitWarning(message, 'TracewrightWarning');
}

/** The message of an error, to follow a colon. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Runs one part of the set-up. If it fails, the others continue without it, after a warning. */
export function part<T>(what: string, begin: () => T): T | undefined {
  try {
    return begin();
  } catch (error) {
    warn(`${what}: ${reasonOf(error)}`);
    return undefined;
  }
}
