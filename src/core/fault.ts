import { TraceFormatError, TracewrightError } from './errors.js';
import { systemError } from './files/system-error.js';

/**
 * Takes what cannot be read of a source, while the rest is read on: a TraceFormatError with file and byte, or
 * `ERR_SYSTEM` for a file that the system refuses. A reader without one throws the first fault.
 */
export type OnFault = (fault: TracewrightError) => void;

/** An error that a source has caused, as a fault of it. What is none of ours names the reader's own mistake. */
export function faultOf(path: string, error: unknown): TracewrightError {
  if (error instanceof TracewrightError) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && syscall !== undefined) return systemError('path', path, error);
  return new TraceFormatError(path, 0, `the reader fails on this file: ${String(error)}`, {
    cause: error,
  });
}

/** Hands on a fault of a source; throws the error itself if nobody takes it. */
export function refuse(onFault: OnFault | undefined, path: string, error: unknown): void {
  if (onFault === undefined) throw error;
  onFault(faultOf(path, error));
}

/** Yields what a source yields, up to a fault that ends its reading. */
export function* untilFault<T>(
  onFault: OnFault | undefined,
  path: string,
  read: () => Iterable<T>,
): Generator<T, void> {
  try {
    yield* read();
  } catch (error) {
    refuse(onFault, path, error);
  }
}

/** Calls `read`, and returns its result; undefined after a fault, which reading the source again finds and reports. */
export function unlessFaulty<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
