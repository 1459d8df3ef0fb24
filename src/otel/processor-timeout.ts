import { TracewrightError } from '../core/errors.js';
import { countWrongArgument } from './wrong-arguments.js';

/** How long `forceFlush` and `shutdown` wait. */
export interface FlushOptions {
  /** Milliseconds for the span processors, 1 to 2,147,483,647. Default: `forceFlushTimeoutMillis` of the provider. */
  timeoutMillis?: number;
}

export const DEFAULT_TIMEOUT_MS = 30_000;
const MOST_MS = 2 ** 31 - 1;

/** A time that a program has given, or the default. One that is no time counts as wrong. */
export function timeoutFrom(given: unknown, byDefault: number): number {
  if (given === undefined) return byDefault;
  if (typeof given === 'number' && given >= 1 && given <= MOST_MS) return given;
  countWrongArgument();
  return byDefault;
}

/**
 * Resolves once all calls have ended.
 *
 * @param call what the calls are, for the error.
 * @throws TracewrightError `ERR_TIMEOUT` when one of them takes longer, or else the first error of a call.
 */
export async function settleAll(
  call: string,
  calls: readonly (() => Promise<void>)[],
  timeoutMs: number,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const limit = `${timeoutMs} ms`;
      const message = `a span processor's ${call} takes longer than ${limit}`;
      reject(new TracewrightError('ERR_TIMEOUT', message, { field: 'timeoutMillis', limit }));
    }, timeoutMs);
  });
  const settled = Promise.allSettled(calls.map(async (each) => each()));
  try {
    const results = await Promise.race([settled, timeout]);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  } finally {
    clearTimeout(timer);
  }
}
