import { useEffect, useState } from 'preact/hooks';

/** A value that others watch. */
export class Store<T extends object> {
  #value: T;
  readonly #watchers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  /** Changes some of it. Watchers hear of it only if something differs. */
  set(change: Partial<T>): void {
    const keys = Object.keys(change) as (keyof T)[];
    if (keys.every((key) => Object.is(change[key], this.#value[key]))) return;
    this.#value = { ...this.#value, ...change };
    for (const watcher of this.#watchers) watcher(this.#value);
  }

  /** @returns what ends the watch. */
  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
    };
  }
}

/** A part of a store, for a component; it is drawn again when that part changes. */
export function useStore<T extends object, P>(store: Store<T>, part: (value: T) => P): P {
  const [shown, show] = useState(() => part(store.value));
  useEffect(() => {
    const update = (value: T): void => {
      show(() => part(value));
    };
    update(store.value);
    return store.watch(update);
    // `part` is written anew by its callers and reads nothing else.
  }, [store]);
  return shown;
}
