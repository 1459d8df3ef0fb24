/** Warns the operator of the service, once, through Node's own channel (`--no-warnings` silences it). */
export function warn(message: string): void {
  process.emitWarning(message, 'TracewrightWarning');
}

/** What an error says, in a form that fits after a colon. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
