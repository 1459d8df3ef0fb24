import type { EventEmitter } from 'node:events';
import type { ActiveContext } from '../../spans/context/active-context.js';
import { spans } from '../../spans/shared-spans.js';

type IsActive<Context> = (context: Context, event: string | symbol) => boolean;

const isItself: IsActive<unknown> = (context) => spans.activeContext() === context;

/** Replaces a method of one object, where nobody sees it who lists its properties. */
export function replaceMethod(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
}

/**
 * Has the listeners of an emitter run in a context. Otherwise those of a connection run in that of the connection: from
 * Node 24 on all of them, before that what a server of gRPC calls when it has received a message.
 *
 * @param isActive whether the listeners would run in it as it is. Default: the context itself is active.
 */
export function emitInContext<Context extends ActiveContext | undefined>(
  context: Context,
  emitter: EventEmitter,
  isActive: IsActive<Context> = isItself,
): void {
  type Emit = typeof emitter.emit;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its object
  const { emit } = emitter;
  replaceMethod(emitter, 'emit', function (this: EventEmitter, ...event: Parameters<Emit>) {
    return isActive(context, event[0])
      ? emit.apply(this, event)
      : spans.applyIn(context, emit, this, event);
  });
}
