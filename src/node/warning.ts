/** Warns the operator of the service by a process warning (`--no-warnings` suppresses it). */
export function warn(message: string): void {
  process.emitWarning(message, 'TracewrightWarning');
}

/** The message of an error, to follow a colon. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
