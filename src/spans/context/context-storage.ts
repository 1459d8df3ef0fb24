import type { AsyncLocalStorage } from 'node:async_hooks';

/** Made when something is active for the first time: until then asking costs nothing. */
let storage: AsyncLocalStorage<object | undefined> | undefined;

/** What is active in the calling code: an `ActiveContext`. */
export function storedContext(): object | undefined {
  return storage === undefined ? undefined : storage.getStore();
}

/** The storage itself, for who enters a context without a function. */
export function contextStorage(): AsyncLocalStorage<object | undefined> {
  if (storage === undefined) {
    const { AsyncLocalStorage: Storage } = process.getBuiltinModule('node:async_hooks');
    storage = new Storage<object | undefined>();
  }
  return storage;
}

/** Calls `fn` with the arguments while `context` is active. */
export function runWith<Arguments extends unknown[], Result>(
  context: object | undefined,
  fn: (...values: Arguments) => Result,
  ...values: Arguments
): Result {
  return (storage ?? contextStorage()).run(context, fn, ...values);
}

/** As `runWith` with one argument. It has no list of arguments to pass on, which Node's own `run` has. */
export function runWithOne<Value, Result>(
  context: object | undefined,
  fn: (value: Value) => Result,
  value: Value,
): Result {
  const entered = storage ?? contextStorage();
  const before = entered.getStore();
  entered.enterWith(context);
  try {
    return fn(value);
  } finally {
    entered.enterWith(before);
  }
}
