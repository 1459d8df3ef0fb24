/** Whether `await` would wait for it. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/** Callbacks for the end of a call; for a promise, when it is settled. */
interface CallEnd<R> {
  succeeded: (result: Awaited<R>) => void;
  failed: () => void;
}

/**
 * Calls a function and follows it to its end. Returns what it returned, or a promise for that; throws
 * what it threw.
 */
export function followCall<R>(fn: () => R, { succeeded, failed }: CallEnd<R>): R {
  let result: R;
  try {
    result = fn();
  } catch (error) {
    failed();
    throw error;
  }
  if (!isThenable(result)) {
    succeeded(result as Awaited<R>);
    return result;
  }
  const promise = result instanceof Promise ? result : Promise.resolve(result);
  return promise.then(
    (value: Awaited<R>) => {
      succeeded(value);
      return value;
    },
    (error: unknown) => {
      failed();
      throw error;
    },
  ) as R;
}
