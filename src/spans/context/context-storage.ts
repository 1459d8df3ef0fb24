import type { AsyncLocalStorage } from 'node:async_hooks';
import { markUsed } from '../first-use.js';
import { findFrames } from './context-frames.js';
import type { ContextFrames } from './context-frames.js';

type Storage = AsyncLocalStorage<object | undefined>;

/** What is active in one storage is a property of what runs: its name is a field of the storage. */
interface KeyedStorage extends Storage {
  readonly kResourceStore?: unknown;
}

/** Whether contexts are entered and left as the storage does it. */
function works(frames: ContextFrames, storage: Storage): boolean {
  const before = storage.getStore();
  const outer = {};
  const inner = {};
  const seen = frames.run(
    outer,
    () =>
      storage.getStore() === outer &&
      storage.run(inner, () => frames.stored() === inner) &&
      storage.getStore() === outer,
    undefined,
  );
  return seen && storage.getStore() === before && frames.stored() === before;
}

/**
 * Before Node 24 each asynchronous resource has what is active in it as a property. `enterWith` and `getStore` look up
 * the resource each; here a run does so once.
 *
 * @returns undefined if this Node keeps contexts elsewhere.
 */
export function findResources(storage: Storage): ContextFrames | undefined {
  const key = (storage as KeyedStorage).kResourceStore;
  if (typeof key !== 'symbol') return undefined;
  const { executionAsyncResource } = process.getBuiltinModule('node:async_hooks');
  const resource = executionAsyncResource as () => Record<symbol, object | undefined>;
  // From here on Node copies the property to what a resource starts.
  storage.enterWith(storage.getStore());
  const frames: ContextFrames = {
    stored: () => resource()[key],
    enter(context) {
      resource()[key] = context;
    },
    swap(context) {
      const current = resource();
      const before = current[key];
      current[key] = context;
      return before;
    },
    leave(before) {
      resource()[key] = before as object | undefined;
    },
    run(context, fn, value) {
      const current = resource();
      const before = current[key];
      current[key] = context;
      try {
        return fn(value);
      } finally {
        current[key] = before;
      }
    },
  };
  return works(frames, storage) ? frames : undefined;
}

/** Made when something is active for the first time: until then asking costs nothing. */
let storage: AsyncLocalStorage<object | undefined> | undefined;
/** Of the storage; undefined: Node keeps contexts in another way. */
let frames: ContextFrames | undefined;

/** What is active in the calling code: an `ActiveContext`. */
export function storedContext(): object | undefined {
  if (storage === undefined) return undefined;
  return frames === undefined ? storage.getStore() : frames.stored();
}

/** The storage itself. */
export function contextStorage(): AsyncLocalStorage<object | undefined> {
  if (storage === undefined) {
    const { AsyncLocalStorage: Storage } = process.getBuiltinModule('node:async_hooks');
    storage = new Storage<object | undefined>();
    frames = findFrames(storage) ?? findResources(storage);
    markUsed();
  }
  return storage;
}

/** Makes a context active in the calling code and what it starts, where there is no function to call. */
export function enterContext(context: object | undefined): void {
  const entered = storage ?? contextStorage();
  if (frames !== undefined) frames.enter(context);
  else entered.enterWith(context);
}

/** Makes a context active in the calling code until `leaveContext` gets what this returns. */
export function swapContext(context: object | undefined): unknown {
  const entered = storage ?? contextStorage();
  if (frames !== undefined) return frames.swap(context);
  const before = entered.getStore();
  entered.enterWith(context);
  return before;
}

/** Ends what `swapContext` has begun, in the same call of the program. */
export function leaveContext(before: unknown): void {
  if (frames !== undefined) frames.leave(before);
  else contextStorage().enterWith(before as object | undefined);
}

/** Calls `fn` with the arguments while `context` is active. */
export function runWith<Arguments extends unknown[], Result>(
  context: object | undefined,
  fn: (...values: Arguments) => Result,
  ...values: Arguments
): Result {
  return runWithOne(context, (all: Arguments) => fn(...all), values);
}

/** As `runWith` with one argument. It has no list of arguments to pass on, which Node's own `run` has. */
export function runWithOne<Value, Result>(
  context: object | undefined,
  fn: (value: Value) => Result,
  value: Value,
): Result {
  const entered = storage ?? contextStorage();
  if (frames !== undefined) return frames.run(context, fn, value);
  const before = entered.getStore();
  entered.enterWith(context);
  try {
    return fn(value);
  } finally {
    entered.enterWith(before);
  }
}
