import type { AsyncLocalStorage } from 'node:async_hooks';
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
