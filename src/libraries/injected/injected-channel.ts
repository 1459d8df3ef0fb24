import type { EventEmitter } from 'node:events';
import { publishedCall } from '../engine/published-calls.js';
import type { AnyFunction } from '../engine/published-calls.js';
import { entryOf, exportOf } from '../table.js';
import type { InjectedName } from '../table.js';
import { channelsOf } from './published-starts.js';
import type { Injection } from './injected-file.js';
import type { Fields } from './published-starts.js';

/** Calls the listeners of an event as `emit` does; returns a promise that all of theirs have settled with. */
function callListeners(
  emitter: EventEmitter,
  event: string,
  values: readonly unknown[],
): Promise<unknown> | undefined {
  const promises: unknown[] = [];
  for (const listener of emitter.rawListeners(event)) {
    const result = Reflect.apply(listener, emitter, values) as unknown;
    if (result instanceof Promise) promises.push(result);
  }
  if (promises.length < 2) return promises[0] as Promise<unknown> | undefined;
  return Promise.all(promises);
}

/** The changes of a library's files. */
export function injectionOf(name: InjectedName): Injection {
  return exportOf(name, entryOf(name).inject!());
}

/** The tracing channel that a changed file of a library publishes on. */
export function injectedChannel(library: InjectedName, name: string): object {
  const channels = channelsOf(name);
  return {
    traceSync: channels.traceSync.bind(channels),
    call: (original: AnyFunction, self: unknown, args: ArrayLike<unknown>) =>
      publishedCall(channels, original, self, args),
    promised: (call: AnyFunction, fields: Fields) =>
      publishedCall(channels, call, undefined, [], () => fields),
    emit: (emitter: EventEmitter, event: string, ...values: unknown[]) =>
      channels.traceSync(callListeners, { emitter, event }, undefined, emitter, event, values),
    ...injectionOf(library).calls?.(channels),
  };
}
