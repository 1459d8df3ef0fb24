import type { EventEmitter } from 'node:events';

type Listener = (this: unknown, ...values: unknown[]) => unknown;
type Method = (this: EventEmitter, event: string | symbol, listener: Listener) => EventEmitter;

type Methods = Readonly<Record<string, Method | undefined>>;

const ADDING = ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener'] as const;
const REMOVING = ['off', 'removeListener'] as const;

/** Emitters that are bound: to one context each. */
const bound = new WeakSet<EventEmitter>();

/** Whether a value adds and removes listeners as an EventEmitter does. */
export function isEmitter(value: unknown): value is EventEmitter {
  if (typeof value !== 'object' || value === null) return false;
  const emitter = value as Partial<EventEmitter>;
  return typeof emitter.on === 'function' && typeof emitter.removeListener === 'function';
}

/** Has listeners that are added from now on called as `bind` makes them. A bound emitter stays as it is. */
export function bindEmitter(emitter: EventEmitter, bind: (listener: Listener) => Listener): void {
  if (bound.has(emitter)) return;
  bound.add(emitter);
  const made = new WeakMap<Listener, Listener>();
  /** `once` calls `on`: what one of them has bound the other leaves alone. */
  let isAdding = false;
  const replace = (name: (typeof ADDING)[number] | (typeof REMOVING)[number], by: Method): void => {
    Object.defineProperty(emitter, name, { value: by, configurable: true, writable: true });
  };
  for (const name of ADDING) {
    const original = (emitter as unknown as Methods)[name];
    if (typeof original !== 'function') continue;
    replace(name, function (event, listener) {
      if (isAdding || typeof listener !== 'function') return original.call(this, event, listener);
      let own = made.get(listener);
      if (own === undefined) made.set(listener, (own = bind(listener)));
      isAdding = true;
      try {
        return original.call(this, event, own);
      } finally {
        isAdding = false;
      }
    });
  }
  for (const name of REMOVING) {
    const original = (emitter as unknown as Methods)[name];
    if (typeof original !== 'function') continue;
    replace(name, function (event, listener) {
      return original.call(this, event, made.get(listener) ?? listener);
    });
  }
}
