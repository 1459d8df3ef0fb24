/** Of HTTP: from this status on the request was the caller's fault, and from the next one on the server's. */
const CALLERS = 400;
const SERVERS = 500;

/** The status that an error asks for, by one of the names that frameworks read; 0: none. */
export function statusOf(error: unknown, ...names: readonly string[]): number {
  if (typeof error !== 'object' || error === null) return 0;
  for (const name of names) {
    const status = (error as Record<string, unknown>)[name];
    if (typeof status === 'number') return status;
  }
  return 0;
}

/** Whether a status is an answer to a fault of the caller. */
export function isCallersFault(status: number): boolean {
  return status >= CALLERS && status < SERVERS;
}

/** Whether a framework answers an error with the status that it has, and that is no failure of the server. */
export function isAnswered(error: unknown): boolean {
  return isCallersFault(statusOf(error, 'status', 'statusCode'));
}
