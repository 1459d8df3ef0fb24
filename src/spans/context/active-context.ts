import type { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '../span.js';
import type { Baggage } from './baggage.js';

/** What is active: a span, which is its own context, or another holder of the same. */
export interface ActiveContext {
  readonly activeSpan: Span | undefined;
  readonly baggage: Baggage | undefined;
}

/** Baggage that is active without a new span. */
export class BaggageScope implements ActiveContext {
  readonly activeSpan: Span | undefined;
  readonly baggage: Baggage | undefined;

  constructor(activeSpan: Span | undefined, baggage: Baggage) {
    this.activeSpan = activeSpan;
    this.baggage = baggage;
  }
}

/** Made when something is active for the first time: until then asking costs nothing. */
let storage: AsyncLocalStorage<ActiveContext | undefined> | undefined;

/** What is active in the calling code. */
export function activeContext(): ActiveContext | undefined {
  return storage === undefined ? undefined : storage.getStore();
}

/** The storage itself, for who enters a context without a function. */
export function contextStorage(): AsyncLocalStorage<ActiveContext | undefined> {
  if (storage === undefined) {
    const { AsyncLocalStorage: Storage } = process.getBuiltinModule('node:async_hooks');
    storage = new Storage<ActiveContext | undefined>();
  }
  return storage;
}

/** Calls `fn` with the arguments while `context` is active. */
export function runWith<Arguments extends unknown[], Result>(
  context: ActiveContext | undefined,
  fn: (...values: Arguments) => Result,
  ...values: Arguments
): Result {
  return (storage ?? contextStorage()).run(context, fn, ...values);
}
